import { type Static, Type } from 'typebox'
import { efforts } from '../../domain/generation/request.ts'
import { FreeObject, nullish, samplingFields, storableText, stringEnum } from '../../http/schema.ts'
import { checkMetadata, labelFields, Metadata, metadataLimits } from '../../http/metadata.ts'
import type { Fields } from '../../lib/json/json.ts'
import { createValidator } from '../../lib/validation/validator.ts'
import { ChatMessage } from './message-schema.ts'

const maxInteger = Number.MAX_SAFE_INTEGER
const PositiveInteger = Type.Integer({ exclusiveMinimum: 0, maximum: maxInteger })

type ChatTool = Static<typeof ChatTool>
const ChatTool = Type.Object(
  {
    type: Type.Literal('function', { description: 'The type of the tool. Only `function` is supported.' }),
    function: Type.Object(
      {
        name: Type.String({ description: 'The name of the function.' }),
        description: nullish(Type.String(), {
          description: 'What the function does. The model uses it to decide when to call the function.',
        }),
        parameters: nullish(FreeObject, {
          description: 'The parameters of the function, as a JSON Schema. Defaults to no parameters.',
        }),
      },
      { description: 'The function that the model may call.' },
    ),
  },
  { title: 'Tool' },
)

const ToolChoice = Type.Union([
  stringEnum(['auto', 'none', 'required']),
  Type.Object({
    type: Type.Literal('function', { description: 'The type of the tool. Always `function`.' }),
    function: Type.Object(
      { name: Type.String({ description: 'The name of the function to call.' }) },
      { description: 'The function that the model must call.' },
    ),
  }),
])

const formatType = { description: 'The format: `text`, `json_object` or `json_schema`.' }

const JsonSchemaFormat = Type.Object(
  {
    name: Type.String({ description: 'The name of the format.' }),
    schema: Type.Unsafe<Fields>({
      type: 'object',
      description: 'The JSON Schema that the output must follow.',
    }),
    strict: nullish(Type.Boolean(), {
      description: 'Whether the provider must enforce the schema exactly. Defaults to that of the provider.',
    }),
  },
  { description: 'The format of the output.' },
)

const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Literal('text', formatType) }),
  Type.Object({ type: Type.Literal('json_object', formatType) }),
  Type.Object({ type: Type.Literal('json_schema', formatType), json_schema: JsonSchemaFormat }),
])

const StreamOptions = Type.Object(
  {
    include_usage: nullish(Type.Boolean(), {
      description: 'Sends a last chunk with the token usage before `data: [DONE]`. Defaults to false.',
    }),
  },
  { additionalProperties: false },
)

const LogitBias = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: { type: 'number' },
})

/** The parameters that choose the output: its length, its format and how it is sampled. */
const outputProperties = {
  ...samplingFields,
  max_tokens: nullish(PositiveInteger, {
    description: 'The maximum number of output tokens. `max_completion_tokens` takes precedence.',
  }),
  max_completion_tokens: nullish(PositiveInteger, {
    description: 'The maximum number of output tokens, including reasoning. Defaults to that of the model.',
  }),
  n: nullish(PositiveInteger, {
    description: 'The number of choices to generate, from 1 to 128. Each of them is billed.',
    default: 1,
  }),
  stop: nullish(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })]), {
    description: 'Up to 4 sequences where the model stops. They are not part of the output.',
  }),
  response_format: nullish(ResponseFormat, {
    description: 'The format of the output: text, any JSON object, or JSON that follows a schema.',
    default: { type: 'text' },
  }),
  seed: nullish(Type.Integer({ minimum: -maxInteger, maximum: maxInteger }), {
    description: 'A seed for repeatable sampling, where the model supports it.',
  }),
  frequency_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 }), {
    description: 'From -2 to 2. Positive values penalize tokens by how often they occurred. Defaults to 0.',
  }),
  presence_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 }), {
    description: 'From -2 to 2. Positive values penalize tokens that have occurred at all. Defaults to 0.',
  }),
  logit_bias: nullish(LogitBias, {
    description: 'For token IDs of the model: a bias from -100 to 100 that is added to their likelihood.',
  }),
  logprobs: nullish(Type.Boolean(), {
    description:
      'Whether to return log probabilities, where the gateway enables them and the provider has them. Otherwise `logprobs` is null in every choice, with a warning.',
  }),
  top_logprobs: nullish(Type.Integer({ minimum: 0, maximum: 20 }), {
    description: 'How many alternatives to return with the log probability of each token. From 0 to 20.',
  }),
  reasoning_effort: nullish(stringEnum(efforts), {
    description:
      'How much the model reasons before it responds. If the model does not support the value, the nearest one is ' +
      'used and a warning is returned. Defaults to that of the model.',
  }),
}

/** The parameters of the gateway: how the request is served, recorded and stored. */
const serviceProperties = {
  service_tier: nullish(stringEnum(['auto', 'default', 'flex', 'priority']), {
    description: 'The service tier of the provider. A tier that the model does not support is ignored.',
  }),
  performance_mode: nullish(stringEnum(['standard', 'fast']), {
    description:
      'With `fast`, the faster and more expensive mode of models that have one. Defaults to `standard`.',
  }),
  store: nullish(Type.Boolean(), {
    description: 'Whether to store the completion, so that it can be retrieved and listed later.',
    default: false,
  }),
  user: nullish(storableText(), {
    description: 'An ID of your end user. It is recorded with the usage and sent to the provider.',
  }),
  tags: labelFields.tags,
  metadata: nullish(Metadata, {
    description: `Any data to store with the completion. Stored completions can be filtered by it. ${metadataLimits}`,
  }),
  trace: labelFields.trace,
}

export type ChatRequest = Static<typeof ChatRequest>
/** The body of a chat completion request; other properties are allowed. */
export const ChatRequest = Type.Object(
  {
    model: Type.String({ description: 'The slug of the model, such as `openai/gpt-6-luna`, or an alias.' }),
    messages: Type.Array(ChatMessage, {
      minItems: 1,
      description: 'The conversation so far, oldest message first. At least one message.',
    }),
    ...outputProperties,
    stream: nullish(Type.Boolean(), {
      description: 'Whether to stream the response as server-sent events.',
      default: false,
    }),
    stream_options: nullish(StreamOptions, { description: 'Options for streams. Ignored without `stream`.' }),
    tools: nullish(Type.Array(ChatTool), { description: 'The functions that the model may call.' }),
    tool_choice: nullish(ToolChoice, {
      description:
        'Whether the model may (`auto`), must not (`none`) or must (`required`) call a tool, or the function that it ' +
        'must call. Defaults to `auto` if there are tools.',
    }),
    parallel_tool_calls: nullish(Type.Boolean(), {
      description:
        'Whether the model may make several tool calls in one response. Defaults to that of the model.',
    }),
    ...serviceProperties,
  },
  { title: 'ChatCompletionRequest' },
)

/** The names of the properties that the schema names. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(ChatRequest.properties))

/** The contract of the request body, with the checks that a schema cannot express. */
export const chatRequest = createValidator(ChatRequest, checkMetadata)
