import type { Part } from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, textOf } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'
import type { Body } from './body.ts'
import { responsesApi } from './unsupported.ts'

/** The content of a message: text alone as a string, which every provider takes, or else a list of parts. */
export type Content = string | readonly Body[]

/** The content of a message to the model. */
export function renderWritten(parts: readonly Part[], warn: Warn): Content {
  return renderContent(parts, renderWrittenPart, (name) =>
    warn({ what: 'Content part type', name, by: responsesApi }),
  )
}

/** The content of what the model said, which is text and refusals. */
export function renderSaid(parts: readonly Part[], warn: Warn): Content {
  return renderContent(parts, renderSaidPart, (name) =>
    warn({ what: 'Content part type', name, by: `${responsesApi} in assistant messages` }),
  )
}

/** The text of these parts, line by line, where there is nothing else. */
export function textAlone(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : undefined
}

function renderContent(
  parts: readonly Part[],
  renderPart: (part: Part) => Body | undefined,
  lose: (name: string) => void,
): Content {
  const [only, second] = parts
  if (only?.type === 'text' && !second) return only.text
  const content: Body[] = []
  for (const part of parts) {
    const rendered = renderPart(part)
    if (rendered) content.push(rendered)
    else lose(part.type === 'foreign' ? part.value.type : part.type)
  }
  return content.length === 0 ? '' : content
}

function renderWrittenPart(part: Part): Body | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      // Some engines refuse an image without it.
      return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' }
    case 'foreign':
      return renderFile(part.value)
  }
}

function renderSaidPart(part: Part): Body | undefined {
  if (part.type === 'text') return { type: 'output_text', text: part.text }
  if (part.type === 'image') return undefined
  const { type, refusal } = part.value
  return type === 'refusal' && typeof refusal === 'string' ? { type, refusal } : undefined
}

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
