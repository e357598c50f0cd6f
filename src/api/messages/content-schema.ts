import { type Static, Type } from 'typebox'
import { FreeObject, nullish } from '../../http/schema.ts'

const CacheControl = { cache_control: nullish(FreeObject) }

const Base64Source = Type.Object({
  type: Type.Literal('base64'),
  media_type: Type.String(),
  data: Type.String(),
})
const UrlSource = Type.Object({ type: Type.Literal('url'), url: Type.String() })
const PlainTextSource = Type.Object({ type: Type.Literal('text'), data: Type.String() })
const OtherSource = Type.Object({
  type: Type.String({ not: { enum: ['base64', 'url', 'text', 'content'] } }),
})

export type TextBlock = Static<typeof TextBlock>
/** A block of text. */
export const TextBlock = Type.Object({ type: Type.Literal('text'), text: Type.String(), ...CacheControl })

const ImageSource = Type.Union([Base64Source, UrlSource, OtherSource])
export type ImageBlock = Static<typeof ImageBlock>
const ImageBlock = Type.Object({ type: Type.Literal('image'), source: ImageSource, ...CacheControl })

/** A source that consists of blocks. */
const ContentSource = Type.Object({
  type: Type.Literal('content'),
  content: Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock]))]),
})

const DocumentSource = Type.Union([Base64Source, UrlSource, PlainTextSource, ContentSource, OtherSource])
export type DocumentBlock = Static<typeof DocumentBlock>
const DocumentBlock = Type.Object({
  type: Type.Literal('document'),
  source: DocumentSource,
  title: nullish(Type.String()),
  context: nullish(Type.String()),
  ...CacheControl,
})

export type SearchResultBlock = Static<typeof SearchResultBlock>
const SearchResultBlock = Type.Object({
  type: Type.Literal('search_result'),
  source: Type.String(),
  title: Type.String(),
  content: Type.Array(TextBlock),
  ...CacheControl,
})

export type ThinkingBlock = Static<typeof ThinkingBlock>
const ThinkingBlock = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.String(),
  signature: nullish(Type.String()),
})

export type RedactedThinkingBlock = Static<typeof RedactedThinkingBlock>
const RedactedThinkingBlock = Type.Object({ type: Type.Literal('redacted_thinking'), data: Type.String() })

export type ToolUseBlock = Static<typeof ToolUseBlock>
const ToolUseBlock = Type.Object({
  type: Type.Literal('tool_use'),
  id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  input: Type.Optional(Type.Unknown()),
  ...CacheControl,
})

// A block of a known type must be valid: it must not match as an other block.
const OtherBlock = Type.Object({
  type: Type.String({
    not: {
      enum: [
        'text',
        'image',
        'document',
        'search_result',
        'thinking',
        'redacted_thinking',
        'tool_use',
        'tool_result',
      ],
    },
  }),
})

const resultContent = Type.Union([TextBlock, ImageBlock, DocumentBlock, SearchResultBlock, OtherBlock])
export type ResultContent = Static<typeof resultContent>

export type ToolResultBlock = Static<typeof ToolResultBlock>
const ToolResultBlock = Type.Object({
  type: Type.Literal('tool_result'),
  tool_use_id: Type.String({ minLength: 1 }),
  content: nullish(Type.Union([Type.String(), Type.Array(resultContent)])),
  is_error: nullish(Type.Boolean()),
  ...CacheControl,
})

export type ContentBlock = Static<typeof ContentBlock>
/** A block of a message; the properties of a block of another type are not validated. */
export const ContentBlock = Type.Union([
  TextBlock,
  ImageBlock,
  DocumentBlock,
  SearchResultBlock,
  ThinkingBlock,
  RedactedThinkingBlock,
  ToolUseBlock,
  ToolResultBlock,
  OtherBlock,
])

type KnownType =
  | 'text'
  | 'image'
  | 'document'
  | 'search_result'
  | 'thinking'
  | 'redacted_thinking'
  | 'tool_use'
  | 'tool_result'

export type BlockOf<Type extends KnownType> = Extract<ContentBlock, { readonly type: Type }>

/** Whether the block is of that type; the schema has validated it then. */
export function isBlock<const Type extends KnownType>(
  block: ContentBlock,
  type: Type,
): block is BlockOf<Type> {
  return block.type === type
}
