import type { ForeignPart, ImagePart, Part } from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, isObject, textOf } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'
import { parseDataUrl, warnOfFields } from '../rendering.ts'

/** A content block of a turn: text, an image, a tool call, a tool result, thinking. */
export type Block = { readonly type: string; readonly [field: string]: unknown }

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
  warnOfProperties('messages[].content[].', withoutCacheControl(part.extras), warn)
  const blocks = part.type === 'text' ? renderText(part.text) : [renderImage(part, warn)]
  return blocks.map((block) => withCacheControl(block, part.extras))
}

function renderText(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function renderImage({ url, detail }: ImagePart, warn: Warn): Block {
  if (detail !== undefined && detail !== 'auto')
    warnOfProperties('messages[].content[].image_url.', { detail }, warn)
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

function renderSource(url: string): Source {
  const content = parseDataUrl(url)
  if (content === undefined) return { type: 'url', url }
  // A common wrong type, which Anthropic rejects.
  const media_type = content.mediaType === 'image/jpg' ? 'image/jpeg' : content.mediaType
  return { type: 'base64', media_type, data: content.data }
}

/** The block with the `cache_control` of the request: Claude caches only on request. */
function withCacheControl<AnyBlock extends Block>(block: AnyBlock, extras: Fields | undefined): AnyBlock {
  return hasCacheControl(extras) ? { ...block, cache_control: extras.cache_control } : block
}

/** The properties without a valid `cache_control`. */
function withoutCacheControl(extras: Fields | undefined): Fields | undefined {
  if (!hasCacheControl(extras)) return extras
  const { cache_control: _, ...others } = extras
  return others
}

/** Blocks without `cache_control`, and the last one of it, for a container that supports only one. */
type DetachedBlocks = { readonly blocks: readonly Block[]; readonly cacheControl: Fields }

/** Separates `cache_control` from the blocks. */
export function detachCacheControl(blocks: readonly Block[]): DetachedBlocks {
  const last = blocks.findLast(hasCacheControl)
  if (!last) return { blocks, cacheControl: {} }
  return { blocks: blocks.map(withoutOwn), cacheControl: { cache_control: last.cache_control } }
}

function withoutOwn(block: Block): Block {
  const { cache_control: _, ...others } = block
  return others
}

function hasCacheControl(fields: Fields | undefined): fields is Fields {
  return isObject(fields?.cache_control) && fields.cache_control.type === 'ephemeral'
}

/** Warns of the extra properties of a message or a part; `within` is their path. */
export function warnOfProperties(within: string, extras: Fields | undefined, warn: Warn): void {
  if (extras) warnOfFields(withoutEmptyLists(extras), { what: 'Property', within, by: 'anthropic' }, warn)
}

/** Clients send messages back with the empty lists that they received. */
export function withoutEmptyLists(fields: Fields): Fields {
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)))
}
