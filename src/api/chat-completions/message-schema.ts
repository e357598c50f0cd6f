import { type Static, Type } from 'typebox'
import { nullish, stringEnum } from '../../http/schema.ts'

export type ToolCall = Static<typeof ToolCall>
/** A call that a model made; `arguments` is JSON text. */
export const ToolCall = Type.Object(
  {
    id: Type.String({ description: 'The ID of the tool call.' }),
    type: Type.Literal('function', { description: 'The type of the tool. Always `function`.' }),
    function: Type.Object(
      {
        name: Type.String({ description: 'The name of the function to call.' }),
        arguments: Type.String({
          description: 'The arguments of the call as JSON. A model can generate invalid JSON.',
        }),
      },
      { description: 'The function that the model called.' },
    ),
  },
  { title: 'ToolCall' },
)

export type TextPart = Static<typeof TextPart>
const TextPart = Type.Object({
  type: Type.Literal('text', { description: 'The type of the content part: `text`.' }),
  text: Type.String({ description: 'The text.' }),
})

export type ImagePart = Static<typeof ImagePart>
const ImagePart = Type.Object({
  type: Type.Literal('image_url', { description: 'The type of the content part: `image_url`.' }),
  image_url: Type.Object(
    {
      url: Type.String({ description: 'An `https://` URL, or the image itself as a base64 `data:` URL.' }),
      detail: nullish(Type.String(), {
        description: 'The resolution in which the model sees the image: `auto`, `low` or `high`.',
      }),
    },
    { description: 'The image.' },
  ),
})

// A part of a known type must be valid: it must not match as a foreign part.
const foreignType = Type.String({
  not: { enum: ['text', 'image_url'] },
  description: 'Another type, such as `file` or `input_audio`, which is sent to providers that support it.',
})
const ForeignPart = Type.Object({ type: foreignType })

export type ContentPart = Static<typeof ContentPart>
/** A part of a message; the properties of a part of another type are not validated. */
export const ContentPart = Type.Union([TextPart, ImagePart, ForeignPart])

/** Whether the part is text. */
export function isTextPart(part: ContentPart): part is TextPart {
  return part.type === 'text'
}

/** Whether the part is an image. */
export function isImagePart(part: ContentPart): part is ImagePart {
  return part.type === 'image_url'
}

const content = Type.Union([Type.String(), Type.Array(ContentPart), Type.Null()], {
  description: 'The content: a string or a list of content parts, or null, for example beside tool calls.',
})

export type ChatMessage = Static<typeof ChatMessage>
/** One message of a conversation; `lowerMessages` checks what its role requires. */
export const ChatMessage = Type.Object(
  {
    role: stringEnum(['system', 'user', 'assistant', 'tool', 'developer'], {
      description: 'The role of the author of the message.',
    }),
    content: Type.Optional(content),
    name: nullish(Type.String(), { description: 'A name that distinguishes participants of the same role.' }),
    tool_calls: nullish(Type.Array(ToolCall), {
      description: 'The tool calls that the model made. Only for `assistant` messages.',
    }),
    tool_call_id: nullish(Type.String(), {
      description: 'The ID of the tool call that this message responds to. Required for `tool` messages.',
    }),
  },
  { title: 'ChatMessage' },
)
