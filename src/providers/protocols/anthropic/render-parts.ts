import type { ForeignPart, ImagePart, Part } from '../../../domain/generation/request.ts'
import { fieldsOf, textOf } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'
import { withMark, withoutMark } from './cache-mark.ts'
import { tellExtras } from './left-out.ts'
import { renderSource } from './source.ts'
import type { Block } from './turns.ts'

/** What a user or a tool says. Text that says nothing is refused, so it is left out. */
export function renderParts(parts: readonly Part[], warn: Warn): Block[] {
  return parts.flatMap((part) => renderPart(part, warn))
}

/** What a model said: text alone, its refusals included. */
export function renderAnswerParts(parts: readonly Part[], warn: Warn): Block[] {
  return parts.flatMap((part) => {
    if (part.type === 'text') return renderPart(part, warn)
    const refusal = part.type === 'foreign' ? textOf(part.value.refusal) : undefined
    if (refusal !== undefined) return renderText(refusal)
    const name = part.type === 'foreign' ? part.value.type : 'image_url'
    return unknownPart(name, 'anthropic in system and assistant messages', warn)
  })
}

function renderPart(part: Part, warn: Warn): Block[] {
  if (part.type === 'foreign') return renderForeign(part, warn)
  tellExtras('messages[].content[].', withoutMark(part.extras), warn)
  const blocks = part.type === 'text' ? renderText(part.text) : [renderImage(part, warn)]
  return blocks.map((block) => withMark(block, part.extras))
}

function renderText(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function renderImage({ url, detail }: ImagePart, warn: Warn): Block {
  if (detail !== undefined && detail !== 'auto')
    tellExtras('messages[].content[].image_url.', { detail }, warn)
  return { type: 'image', source: renderSource(url) }
}

function renderForeign({ value }: ForeignPart, warn: Warn): Block[] {
  const file = fieldsOf(value.file)
  const url = textOf(file.file_data) ?? textOf(file.file_url)
  if (value.type !== 'file' || url === undefined) return unknownPart(value.type, 'anthropic', warn)
  const blocks = renderFile(url, textOf(file.filename)) ?? unknownFile(warn)
  return blocks.map((block) => withMark(block, value))
}

function unknownPart(name: string, by: string, warn: Warn): Block[] {
  warn({ what: 'Content part type', name, by })
  return []
}

/** Undefined for a kind of file that Claude does not read. */
function renderFile(url: string, title: string | undefined): Block[] | undefined {
  const source = renderSource(url)
  if (source.type === 'url') return [{ type: 'document', source, title }]
  if (source.media_type.startsWith('image/')) return [{ type: 'image', source }]
  if (source.media_type === 'application/pdf') return [{ type: 'document', source, title }]
  if (!source.media_type.startsWith('text/')) return undefined
  const data = Buffer.from(source.data, 'base64').toString()
  return [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data }, title }]
}

function unknownFile(warn: Warn): Block[] {
  warn('Files other than PDF, text and images are not supported by anthropic and were ignored.')
  return []
}
