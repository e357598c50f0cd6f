import type { ForeignPart, ImagePart, Part } from '../../../domain/generation/request.ts'
import { fieldsOf, textOf } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'
import { withCacheControl, withoutCacheControl } from './cache-control.ts'
import type { Block } from './turns.ts'
import { warnUnsupportedProperties } from './unsupported.ts'

/** Renders the parts of a user message or a tool result. Blank text is omitted: Anthropic rejects it. */
export function renderParts(parts: readonly Part[], warn: Warn): Block[] {
  return parts.flatMap((part) => renderPart(part, warn))
}

/** Renders the parts of system and assistant messages: text only, with refusals. */
export function renderTextParts(parts: readonly Part[], warn: Warn): Block[] {
  return parts.flatMap((part) => {
    if (part.type === 'text') return renderPart(part, warn)
    const refusal = part.type === 'foreign' ? textOf(part.value.refusal) : undefined
    if (refusal !== undefined) return renderText(refusal)
    const name = part.type === 'foreign' ? part.value.type : 'image_url'
    return ignorePart(name, 'anthropic in system and assistant messages', warn)
  })
}

function renderPart(part: Part, warn: Warn): Block[] {
  if (part.type === 'foreign') return renderForeign(part, warn)
  warnUnsupportedProperties('messages[].content[].', withoutCacheControl(part.extras), warn)
  const blocks = part.type === 'text' ? renderText(part.text) : [renderImage(part, warn)]
  return blocks.map((block) => withCacheControl(block, part.extras))
}

function renderText(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function renderImage({ url, detail }: ImagePart, warn: Warn): Block {
  if (detail !== undefined && detail !== 'auto')
    warnUnsupportedProperties('messages[].content[].image_url.', { detail }, warn)
  return { type: 'image', source: renderSource(url) }
}

function renderForeign({ value }: ForeignPart, warn: Warn): Block[] {
  const file = fieldsOf(value.file)
  const url = textOf(file.file_data) ?? textOf(file.file_url)
  if (value.type !== 'file' || url === undefined) return ignorePart(value.type, 'anthropic', warn)
  const blocks = renderFile(url, textOf(file.filename)) ?? ignoreFile(warn)
  return blocks.map((block) => withCacheControl(block, value))
}

function ignorePart(name: string, by: string, warn: Warn): Block[] {
  warn({ what: 'Content part type', name, by })
  return []
}

/** Undefined for a type of file that Claude does not support. */
function renderFile(url: string, title: string | undefined): Block[] | undefined {
  const source = renderSource(url)
  if (source.type === 'url') return [{ type: 'document', source, title }]
  if (source.media_type.startsWith('image/')) return [{ type: 'image', source }]
  if (source.media_type === 'application/pdf') return [{ type: 'document', source, title }]
  if (!source.media_type.startsWith('text/')) return undefined
  const data = Buffer.from(source.data, 'base64').toString()
  return [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data }, title }]
}

function ignoreFile(warn: Warn): Block[] {
  warn('Files other than PDF, text and images are not supported by anthropic and were ignored.')
  return []
}

/** The bytes of an image or a document, or their URL. */
type Source =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }

/** The source for a data URL or any other URL. */
function renderSource(url: string): Source {
  const [, head, data] = /^data:([^,]*),(.*)$/is.exec(url) ?? []
  if (head === undefined || data === undefined) return { type: 'url', url }
  const [type = '', ...attributes] = head.toLowerCase().split(';')
  const encoded = attributes.some((attribute) => attribute.trim() === 'base64')
  return { type: 'base64', media_type: mediaType(type), data: encoded ? data : toBase64(data) }
}

/** Corrects a common wrong media type that Anthropic rejects. */
function mediaType(type: string): string {
  const name = type.trim()
  return name === 'image/jpg' ? 'image/jpeg' : name
}

function toBase64(data: string): string {
  return Buffer.from(percentDecoded(data)).toString('base64')
}

function percentDecoded(data: string): string {
  try {
    return decodeURIComponent(data)
  } catch {
    return data
  }
}
