import { type Static, Type } from 'typebox'
import { FreeObject, nullish } from '../../http/schema.ts'

const CacheControl = {
  cache_control: nullish(FreeObject, {
    description: 'Marks the end of a part of the prompt to cache, for example `{"type": "ephemeral"}`.',
  }),
}

const Base64Source = Type.Object({
  type: Type.Literal('base64', { description: 'The type of the source: `base64`.' }),
  media_type: Type.String({ description: 'The media type of the data, such as `image/png`.' }),
  data: Type.String({ description: 'The data in base64.' }),
})
const UrlSource = Type.Object({
  type: Type.Literal('url', { description: 'The type of the source: `url`.' }),
  url: Type.String({ description: 'The `https://` URL of the data.' }),
})
const PlainTextSource = Type.Object({
  type: Type.Literal('text', { description: 'The type of the source: `text`.' }),
  data: Type.String({ description: 'The text.' }),
})
const OtherSource = Type.Object({
  type: Type.String({
    not: { enum: ['base64', 'url', 'text', 'content'] },
    description: 'Another type of source, which is sent to Anthropic providers.',
  }),
})

export type TextBlock = Static<typeof TextBlock>
/** A block of text. */
export const TextBlock = Type.Object({
  type: Type.Literal('text', { description: 'The type of the block: `text`.' }),
  text: Type.String({ description: 'The text.' }),
  ...CacheControl,
})

const ImageSource = Type.Union([Base64Source, UrlSource, OtherSource], {
  description: 'The data of the image.',
})
type ImageBlock = Static<typeof ImageBlock>
const ImageBlock = Type.Object({
  type: Type.Literal('image', { description: 'The type of the block: `image`.' }),
  source: ImageSource,
  ...CacheControl,
})

/** A source that consists of blocks. */
const ContentSource = Type.Object({
  type: Type.Literal('content', { description: 'The type of the source: `content`.' }),
  content: Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock]))], {
    description: 'The content of the document: text, or a list of text and image blocks.',
  }),
})

const DocumentSource = Type.Union([Base64Source, UrlSource, PlainTextSource, ContentSource, OtherSource], {
  description: 'The data of the document.',
})
type DocumentBlock = Static<typeof DocumentBlock>
const DocumentBlock = Type.Object({
  type: Type.Literal('document', { description: 'The type of the block: `document`.' }),
  source: DocumentSource,
  title: nullish(Type.String(), { description: 'The title of the document.' }),
  context: nullish(Type.String(), { description: 'Further information about the document.' }),
  ...CacheControl,
})

type SearchResultBlock = Static<typeof SearchResultBlock>
const SearchResultBlock = Type.Object({
  type: Type.Literal('search_result', { description: 'The type of the block: `search_result`.' }),
  source: Type.String({ description: 'Where the result was found.' }),
  title: Type.String({ description: 'The title of the result.' }),
  content: Type.Array(TextBlock, { description: 'The text of the result.' }),
  ...CacheControl,
})

type ThinkingBlock = Static<typeof ThinkingBlock>
const ThinkingBlock = Type.Object({
  type: Type.Literal('thinking', { description: 'The type of the block: `thinking`.' }),
  thinking: Type.String({ description: 'The thinking of an earlier message of the model.' }),
  signature: nullish(Type.String(), {
    description:
      'The signature of the block, as it was received. Other providers than its own never receive it.',
  }),
})

type RedactedThinkingBlock = Static<typeof RedactedThinkingBlock>
const RedactedThinkingBlock = Type.Object({
  type: Type.Literal('redacted_thinking', { description: 'The type of the block: `redacted_thinking`.' }),
  data: Type.String({ description: 'The encrypted thinking, as it was received.' }),
})

type ToolUseBlock = Static<typeof ToolUseBlock>
const ToolUseBlock = Type.Object({
  type: Type.Literal('tool_use', { description: 'The type of the block: `tool_use`.' }),
  id: Type.String({ minLength: 1, description: 'The ID of the tool call.' }),
  name: Type.String({ minLength: 1, description: 'The name of the tool.' }),
  input: Type.Optional(Type.Unknown({ description: 'The input of the tool.' })),
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
    description: 'Another type of block, which is sent to Anthropic providers.',
  }),
})

const resultContent = Type.Union([TextBlock, ImageBlock, DocumentBlock, SearchResultBlock, OtherBlock])

type ToolResultBlock = Static<typeof ToolResultBlock>
const ToolResultBlock = Type.Object({
  type: Type.Literal('tool_result', { description: 'The type of the block: `tool_result`.' }),
  tool_use_id: Type.String({
    minLength: 1,
    description: 'The ID of the tool call that this is the result of.',
  }),
  content: nullish(Type.Union([Type.String(), Type.Array(resultContent)]), {
    description: 'The result: text, or a list of blocks.',
  }),
  is_error: nullish(Type.Boolean(), { description: 'Whether the tool failed.' }),
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
