import { type Static, Type } from 'typebox'
import { FreeObject, modelField, nullish, storableText, stringEnum } from '../../http/schema.ts'
import { threadsUnsupported } from '../../lib/errors/errors.ts'
import type { Fields } from '../../lib/json/json.ts'
import { createValidator } from '../../lib/validation/validator.ts'
import { ContentBlock, TextBlock } from './content-schema.ts'

const maxInteger = Number.MAX_SAFE_INTEGER

export type InputMessage = Static<typeof InputMessage>
/** One message of a conversation. */
export const InputMessage = Type.Object(
  {
    role: stringEnum(['user', 'assistant', 'system'], {
      description: 'The author of the message. `system` is accepted beside `system` of the request.',
    }),
    content: Type.Union([Type.String(), Type.Array(ContentBlock)], {
      description: 'The content of the message: text, or a list of blocks.',
    }),
  },
  { title: 'InputMessage' },
)

export type CustomTool = Static<typeof CustomTool>
const CustomTool = Type.Object({
  type: nullish(Type.Literal('custom'), {
    description: 'The type of the tool: `custom`, or the type of a tool that Anthropic defines.',
  }),
  name: Type.String({ minLength: 1, description: 'The name by which the model calls the tool.' }),
  description: nullish(Type.String(), { description: 'What the tool does and when to use it.' }),
  input_schema: Type.Unsafe<Fields>({
    type: 'object',
    description: 'The JSON Schema of the input of the tool.',
  }),
  strict: nullish(Type.Boolean(), { description: 'Whether the input always matches the schema.' }),
})

export type AnthropicTool = Static<typeof AnthropicTool>
/** A tool that Anthropic defines, such as `bash_20250124`. */
const AnthropicTool = Type.Object({
  type: Type.String({
    minLength: 1,
    maxLength: 100,
    not: { enum: ['custom'] },
    description: 'The type of a tool that Anthropic defines, such as `bash_20250124`.',
  }),
})

export type ToolChoice = Static<typeof ToolChoice>
const ToolChoice = Type.Object({
  type: stringEnum(['auto', 'any', 'tool', 'none'], {
    description: 'Whether the model may, must or must not call a tool.',
  }),
  name: nullish(Type.String(), { description: 'The tool to call, with the type `tool`.' }),
  disable_parallel_tool_use: nullish(Type.Boolean(), {
    description: 'Whether the model makes at most one call at a time.',
  }),
})

export type Thinking = Static<typeof Thinking>
const Thinking = Type.Object({
  type: Type.String({
    description: 'Whether the model thinks: `enabled`, `adaptive`, `between_tools` or `disabled`.',
  }),
  budget_tokens: nullish(Type.Integer({ minimum: 0, maximum: maxInteger }), {
    description: 'The maximum number of tokens to think with, with the type `enabled`.',
  }),
  display: nullish(Type.String(), {
    description: 'How thinking is returned: `omitted` returns thinking blocks without their text.',
  }),
})

const OutputFormat = Type.Object({
  type: Type.Literal('json_schema', { description: 'The type of the format: `json_schema`.' }),
  schema: Type.Unsafe<Fields>({ type: 'object', description: 'The JSON Schema that the answer matches.' }),
})

const OutputConfig = Type.Object({
  effort: nullish(stringEnum(['low', 'medium', 'high', 'xhigh', 'max']), {
    description: 'How much effort the model makes, from `low` to `max`.',
  }),
  format: nullish(OutputFormat, { description: 'The format of the answer.' }),
})

/** The properties that a request and a request to count its tokens have in common. */
const promptFields = {
  model: modelField,
  messages: Type.Array(InputMessage, {
    minItems: 1,
    description: 'The messages of the conversation. At least 1.',
  }),
  system: nullish(Type.Union([Type.String(), Type.Array(TextBlock)]), {
    description: 'The instructions for the model: text, or a list of text blocks.',
  }),
  tools: nullish(Type.Array(Type.Union([CustomTool, AnthropicTool])), {
    description:
      'The tools that the model may call. Tools that Anthropic defines need a model that is served by an Anthropic provider.',
  }),
  tool_choice: nullish(ToolChoice, { description: 'Which tool the model calls, if any.' }),
  thinking: nullish(Thinking, {
    description: 'Whether and how the model thinks. For other providers than Anthropic, a reasoning effort.',
  }),
  output_config: nullish(OutputConfig, { description: 'The effort, and the format of the answer.' }),
  output_format: nullish(OutputFormat, {
    description: 'The format of the answer, as older clients send it.',
  }),
  mcp_servers: nullish(Type.Array(FreeObject), {
    description:
      'MCP servers that Anthropic calls. They need a model that is served by an Anthropic provider.',
  }),
  container: nullish(Type.Union([Type.String(), FreeObject]), {
    description:
      'The container in which code runs: the `id` that an earlier answer has named, or the `skills` of Anthropic for it. It needs a model that is served by an Anthropic provider. The id of any other container is rejected.',
  }),
  thread: nullish(FreeObject, {
    description: 'Message threads are not supported. A request with one is rejected.',
  }),
}

export type CountTokensRequest = Static<typeof CountTokensRequest>
/** The body of a request to count tokens; other properties are allowed. */
export const CountTokensRequest = Type.Object(promptFields, { title: 'CountTokensRequest' })

export type MessageRequest = Static<typeof MessageRequest>
/** The body of a request for a message; other properties are allowed. */
export const MessageRequest = Type.Object(
  {
    ...promptFields,
    max_tokens: Type.Integer({
      minimum: 1,
      maximum: maxInteger,
      description: 'The maximum number of tokens to generate, thinking included. At least 1.',
    }),
    stream: nullish(Type.Boolean(), {
      description: 'Whether to stream the message as server-sent events.',
      default: false,
    }),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 1 }), {
      description: 'The sampling temperature, from 0 to 1.',
    }),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 }), {
      description: 'The probability mass that is sampled from, from 0 to 1.',
    }),
    top_k: nullish(Type.Integer({ minimum: 0, maximum: maxInteger }), {
      description:
        'The number of most likely tokens that are sampled from. Sent to providers that support it.',
    }),
    stop_sequences: nullish(Type.Array(Type.String({ minLength: 1 }), { maxItems: 1024 }), {
      description: 'Texts at which the model stops. At most 1024.',
    }),
    metadata: nullish(
      Type.Object({
        user_id: nullish(storableText(), {
          description: 'An ID of the end user, stored with the usage of the request.',
        }),
      }),
      { description: 'Information about the request.' },
    ),
    service_tier: nullish(stringEnum(['auto', 'standard_only']), {
      description: 'The service tier to request from the provider.',
    }),
  },
  { title: 'MessageRequest' },
)

/** The contract of a request for a message. */
export const messageRequest = createValidator(MessageRequest, rejectThread)

/** The contract of a request to count tokens. */
export const countTokensRequest = createValidator(CountTokensRequest, rejectThread)

/** A thread holds the earlier messages: without it, the model would receive only the last ones. */
function rejectThread({ thread }: Pick<CountTokensRequest, 'thread'>): void {
  if (thread != null) throw threadsUnsupported()
}
