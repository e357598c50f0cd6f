import type { Part } from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, textOf } from '../../../lib/json/json.ts'
import type { Body, Warn } from '../protocol.ts'
import { responsesApi } from './unsupported.ts'

/** The content of a message: a single text as a string, which every provider accepts, or a list of parts. */
export type Content = string | readonly Body[]

/** Renders the content of a message to the model. */
export function renderInputContent(parts: readonly Part[], warn: Warn): Content {
  return renderContent(parts, renderInputPart, (name) =>
    warn({ what: 'Content part type', name, by: responsesApi }),
  )
}

/** Renders the content of a message of the model: text and refusals. */
export function renderOutputContent(parts: readonly Part[], warn: Warn): Content {
  return renderContent(parts, renderOutputPart, (name) =>
    warn({ what: 'Content part type', name, by: `${responsesApi} in assistant messages` }),
  )
}

/** The texts of the parts, joined by line breaks; undefined where there are other parts. */
export function textOnly(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : undefined
}

function renderContent(
  parts: readonly Part[],
  renderPart: (part: Part) => Body | undefined,
  warnUnsupported: (name: string) => void,
): Content {
  const [only, second] = parts
  if (only?.type === 'text' && !second) return only.text
  const content: Body[] = []
  for (const part of parts) {
    const rendered = renderPart(part)
    if (rendered) content.push(rendered)
    else warnUnsupported(part.type === 'foreign' ? part.value.type : part.type)
  }
  return content.length === 0 ? '' : content
}

function renderInputPart(part: Part): Body | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      // Some engines reject an image without `detail`.
      return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' }
    case 'foreign':
      return renderFile(part.value)
  }
}

function renderOutputPart(part: Part): Body | undefined {
  if (part.type === 'text') return { type: 'output_text', text: part.text }
  if (part.type === 'image') return undefined
  const { type, refusal } = part.value
  return type === 'refusal' && typeof refusal === 'string' ? { type, refusal } : undefined
}

/** Renders a file in the form of chat completions or of the Responses API; undefined for any other part. */
function renderFile(part: Fields): Body | undefined {
  if (part.type === 'input_file') return inputFile(part)
  if (part.type !== 'file') return undefined
  const { file_data, filename } = fieldsOf(part.file)
  const data = textOf(file_data)
  if (data === undefined) return undefined
  if (/^https?:/.test(data)) return { type: 'input_file', file_url: data }
  return { type: 'input_file', filename: textOf(filename) ?? `file.${extensionFor(data)}`, file_data: data }
}

/** Only the known fields of a file: a provider may interpret others in any way. */
function inputFile({ type, file_data, file_url, filename, detail }: Fields): Body {
  const fields = Object.entries({ type, file_data, file_url, filename, detail })
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

/** OpenAI derives the type of a file from the extension of its name. */
function extensionFor(dataUrl: string): string {
  return /^data:[\w.-]+\/(\w+)[;,]/.exec(dataUrl)?.[1] ?? 'pdf'
}
