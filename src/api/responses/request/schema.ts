import { type Static, Type } from 'typebox'
import { efforts } from '../../../domain/generation/request.ts'
import { nullish, samplingFields, storableText, stringEnum } from '../../../http/schema.ts'
import { checkMetadata, labelFields, Metadata, metadataLimits } from '../../../http/metadata.ts'
import { createValidator } from '../../../lib/validation/validator.ts'

const maxInteger = Number.MAX_SAFE_INTEGER

const InputText = Type.Object({
  type: Type.Literal('input_text', { description: 'The type of the content part: `input_text`.' }),
  text: Type.String({ description: 'The text.' }),
})

const imageUrl = Type.String({
  description: 'An `https://` URL, or the image itself as a base64 `data:` URL.',
})

const InputImage = Type.Object({
  type: Type.Literal('input_image', { description: 'The type of the content part: `input_image`.' }),
  image_url: nullish(Type.Union([imageUrl, Type.Object({ url: imageUrl })]), {
    description: 'An `https://` URL, or the image itself as a base64 `data:` URL.',
  }),
  detail: nullish(Type.String(), {
    description: 'The resolution in which the model sees the image: `auto`, `low` or `high`.',
  }),
  file_id: nullish(Type.String(), { description: 'Not supported: the gateway does not store files.' }),
})

const ForeignPart = Type.Object({
  type: otherTypeThan(
    ['input_text', 'input_image'],
    'Another type, such as `input_file`, which is sent to providers that support it.',
  ),
})

const InputMessage = Type.Object(
  {
    type: nullish(Type.Literal('message'), { description: 'The type of the item: `message`.' }),
    role: stringEnum(['system', 'developer', 'user', 'assistant'], {
      description: 'The role of the author of the message.',
    }),
    content: Type.Union([Type.String(), Type.Array(Type.Union([InputText, InputImage, ForeignPart]))], {
      description: 'The content: a string, or a list of content parts.',
    }),
  },
  { title: 'ResponseInputMessage' },
)

const itemId = Type.String({ minLength: 1, description: 'The ID of an item of a stored response.' })

const ItemReference = Type.Object({
  type: Type.Literal('item_reference', { description: 'The type of the item: `item_reference`.' }),
  id: itemId,
})

// No additional properties, so that a message without a role does not pass as a reference.
const BareReference = Type.Object(
  { type: Type.Optional(Type.Null({ description: 'Absent or null for a reference.' })), id: itemId },
  { additionalProperties: false },
)

const ForeignItem = Type.Object({
  type: otherTypeThan(
    ['message', 'item_reference'],
    'Another type, such as `function_call_output`. Items of unknown types are ignored with a warning.',
  ),
})

export type InputItem = Static<typeof InputItem>
/** An item of the input; items of other types may have any properties. */
export const InputItem = Type.Union([InputMessage, ItemReference, BareReference, ForeignItem])

const Reasoning = Type.Object({
  effort: nullish(stringEnum(efforts), {
    description:
      'How much the model reasons before it responds. If the model does not support the value, the nearest one is ' +
      'used and a warning is returned. Defaults to that of the model.',
  }),
  summary: nullish(stringEnum(['auto', 'concise', 'detailed']), {
    description:
      'Returned in the response, but has no effect: a summary is included if the provider has one.',
  }),
})

const TextOptions = Type.Object({
  format: nullish(
    Type.Object({
      type: Type.String({ description: 'The format: `text`, `json_object` or `json_schema`.' }),
    }),
    { description: 'The format. `json_schema` requires `name` and `schema` beside the type.' },
  ),
})

const Tool = Type.Object({ type: Type.String({ description: 'The type of the tool.' }) })

/** The parameters that choose the output: its length, its format and how it is sampled. */
const outputProperties = {
  max_output_tokens: nullish(Type.Integer({ exclusiveMinimum: 0, maximum: maxInteger }), {
    description: 'The maximum number of output tokens, including reasoning. Defaults to that of the model.',
  }),
  ...samplingFields,
  reasoning: nullish(Reasoning, { description: 'Options for models that reason.' }),
  text: nullish(TextOptions, {
    description: 'The format of the output: text, any JSON object, or JSON that follows a schema.',
  }),
}

/** The parameters of the gateway: how the request is served, recorded and stored. */
const serviceProperties = {
  stream: nullish(Type.Boolean(), {
    description: 'Whether to stream the response as server-sent events.',
    default: false,
  }),
  background: nullish(Type.Boolean(), {
    description:
      'Whether to run the request in the background. It is queued, and its result can be retrieved by the ID of the ' +
      'response. Requires `store`.',
    default: false,
  }),
  store: nullish(Type.Boolean(), {
    description: 'Whether to store the response, so that it can be retrieved and continued later.',
    default: true,
  }),
  user: nullish(storableText(), {
    description: 'An ID of your end user. It is recorded with the usage and sent to the provider.',
  }),
  metadata: nullish(Metadata, { description: `Any data to store with the response. ${metadataLimits}` }),
  ...labelFields,
}

/** The tools of the request, and the parameters of which only one value has an effect. */
const toolProperties = {
  tools: nullish(Type.Array(Tool), {
    description:
      'The tools that the model may call: functions, custom tools and namespaces of them. Must be empty unless ' +
      '`compatibility.function_tools` is enabled in the settings.',
  }),
  tool_choice: Type.Optional(
    Type.Unknown({
      description:
        '`auto`, `none`, `required`, a tool, or `allowed_tools`. Has no effect without tools. Defaults to `auto`.',
    }),
  ),
  parallel_tool_calls: nullish(Type.Boolean(), {
    description: 'Whether the model may call several tools in one response. Has no effect without tools.',
  }),
  truncation: nullish(Type.String(), {
    description: 'Only `disabled` is supported. Other values are ignored with a warning.',
  }),
  include: nullish(Type.Array(Type.String()), {
    description:
      '`reasoning.encrypted_content` returns the state of the reasoning, which the next request may send back. ' +
      'Other values are ignored with a warning.',
  }),
}

export type ResponseRequest = Static<typeof ResponseRequest>
/** The body of `POST /v1/responses`; it may have further properties. */
export const ResponseRequest = Type.Object(
  {
    model: Type.String({ description: 'The slug of the model, such as `openai/gpt-6-luna`, or an alias.' }),
    input: Type.Union([Type.String(), Type.Array(InputItem)], {
      description: 'The input of the model: a string, or a list of items, oldest first.',
    }),
    instructions: nullish(Type.String(), {
      description: 'A system message before the input. It is not carried over to the next response.',
    }),
    previous_response_id: nullish(Type.String(), {
      description: 'The ID of a stored response to continue. Its input and output precede the input.',
    }),
    ...outputProperties,
    ...serviceProperties,
    ...toolProperties,
  },
  { title: 'CreateResponseRequest' },
)

/** The names of the request's properties that the schema knows. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(ResponseRequest.properties))

/** The contract by which the route validates its body. */
export const responseRequest = createValidator(ResponseRequest, checkMetadata)

/** Any type but these, which have schemas of their own. */
function otherTypeThan(types: readonly string[], description: string) {
  return Type.String({ not: { enum: types }, description })
}
