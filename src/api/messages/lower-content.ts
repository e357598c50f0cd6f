import type { ForeignPart, Part, TextPart } from '../../domain/generation/request.ts'
import { unsupportedParameter } from '../../lib/errors/errors.ts'
import type { Fields } from '../../lib/json/json.ts'
import { type BlockOf, type ContentBlock, isBlock } from './content-schema.ts'

/** A block that becomes parts of its message: everything but thinking, tool calls and their results. */
type PartBlock = Exclude<ContentBlock, BlockOf<'tool_use' | 'tool_result' | 'thinking' | 'redacted_thinking'>>

/** Lowers a text, or blocks, to parts; `path` is the path of the content in the request. */
export function lowerContent(content: string | readonly PartBlock[], path: string): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.flatMap((block, index) => lowerBlock(block, `${path}[${index}]`))
}

/** Lowers one block to parts; throws 400 for a file that only the provider has. */
export function lowerBlock(block: PartBlock, path: string): readonly Part[] {
  if (isBlock(block, 'text')) return [textPart(block.text, cacheExtras(block))]
  if (isBlock(block, 'image')) return lowerImage(block, path)
  if (isBlock(block, 'document')) return lowerDocument(block, path)
  if (isBlock(block, 'search_result')) return lowerSearchResult(block)
  if (block.type === 'container_upload') throw unknownFile(path)
  return [foreignPart(block)]
}

/** The block as a part that only Anthropic's own protocol understands. */
export function foreignPart(block: ContentBlock): ForeignPart {
  return { type: 'foreign', protocol: 'anthropic', value: block }
}

/** Only `cache_control` has a meaning for other protocols, too. */
export function cacheExtras(block: Fields): Fields | undefined {
  return block.cache_control == null ? undefined : { cache_control: block.cache_control }
}

function textPart(text: string, extras?: Fields): TextPart {
  return extras === undefined ? { type: 'text', text } : { type: 'text', text, extras }
}

function lowerImage(block: BlockOf<'image'>, path: string): readonly Part[] {
  const { source } = block
  const extras = cacheExtras(block)
  if (source.type === 'base64' && 'data' in source)
    return [{ type: 'image', url: dataUrl(source.media_type, source.data), extras }]
  if (source.type === 'url' && 'url' in source) return [{ type: 'image', url: source.url, extras }]
  throw unknownFile(`${path}.source`)
}

/** Bytes and URLs become a file in the form of chat completions, in which every protocol receives it. */
function lowerDocument(block: BlockOf<'document'>, path: string): readonly Part[] {
  const { source } = block
  const cacheControl = cacheExtras(block)
  const heading = headingOf(block)
  if (source.type === 'text' && 'data' in source) return [textPart(heading + source.data, cacheControl)]
  if (source.type === 'content' && 'content' in source) {
    const parts = lowerContent(source.content, `${path}.source.content`)
    return heading === '' ? parts : [textPart(heading), ...parts]
  }
  const data =
    'data' in source && 'media_type' in source ? dataUrl(source.media_type, source.data) : undefined
  const url = 'url' in source ? source.url : undefined
  const file_data = data ?? url
  if (file_data === undefined) throw unknownFile(`${path}.source`)
  const filename = block.title == null ? {} : { filename: block.title }
  return [{ type: 'foreign', value: { type: 'file', file: { file_data, ...filename }, ...cacheControl } }]
}

function headingOf({ title, context }: BlockOf<'document'>): string {
  return [title, context].map((text) => (text ? `${text}\n\n` : '')).join('')
}

function lowerSearchResult(block: BlockOf<'search_result'>): readonly Part[] {
  const text = block.content.map((part) => part.text).join('\n')
  return [textPart(`${block.title}\n${block.source}\n\n${text}`, cacheExtras(block))]
}

function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`
}

function unknownFile(param: string): Error {
  const message = 'The gateway does not store files: send the content itself instead of a file_id.'
  return unsupportedParameter(message, param)
}
