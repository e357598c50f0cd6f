import { type Fields, fieldsOf, textOf } from '../../../lib/json/json.ts'
import type { Body } from './body.ts'

/** A file, in the form of chat completions or in that of this API; undefined for any other part. */
export function renderFile(part: Fields): Body | undefined {
  if (part.type === 'input_file') return inputFile(part)
  if (part.type !== 'file') return undefined
  const { file_data, filename } = fieldsOf(part.file)
  const data = textOf(file_data)
  if (data === undefined) return undefined
  if (/^https?:/.test(data)) return { type: 'input_file', file_url: data }
  return { type: 'input_file', filename: textOf(filename) ?? `file.${endingFor(data)}`, file_data: data }
}

/** Only what a file is made of: other properties may mean anything to a provider. */
function inputFile({ type, file_data, file_url, filename, detail }: Fields): Body {
  const fields = Object.entries({ type, file_data, file_url, filename, detail })
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

/** OpenAI tells the kind of a file by the ending of its name. */
function endingFor(dataUrl: string): string {
  return /^data:[\w.-]+\/(\w+)[;,]/.exec(dataUrl)?.[1] ?? 'pdf'
}
