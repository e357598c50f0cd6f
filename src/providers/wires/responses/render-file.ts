import { type Fields, fieldsOf, textOf } from '../../../lib/json.ts'
import type { Body } from './body.ts'

/** A file, in the form of chat completions or in that of this API; undefined for any other part. */
export function renderFile(part: Fields): Body | undefined {
  if (part.type === 'input_file') return part
  if (part.type !== 'file') return undefined
  const { file_data, filename } = fieldsOf(part.file)
  const data = textOf(file_data)
  if (data === undefined) return undefined
  if (/^https?:/.test(data)) return { type: 'input_file', file_url: data }
  return { type: 'input_file', filename: textOf(filename) ?? `file.${endingFor(data)}`, file_data: data }
}

/** OpenAI tells the kind of a file by the ending of its name. */
function endingFor(dataUrl: string): string {
  return /^data:[\w.-]+\/(\w+)[;,]/.exec(dataUrl)?.[1] ?? 'pdf'
}
