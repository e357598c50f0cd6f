import { type Static, Type } from 'typebox'
import { FreeObject, nullish, stringEnum } from '../../http/schema.ts'
import { threadsUnsupported } from '../../lib/errors/thread-errors.ts'
import { createValidator } from '../../lib/validation/validator.ts'
import { ContentBlock, TextBlock } from './content-schema.ts'

const maxInteger = Number.MAX_SAFE_INTEGER

export type InputMessage = Static<typeof InputMessage>
/** One message of a conversation. */
export const InputMessage = Type.Object(
  {
    role: stringEnum(['user', 'assistant', 'system']),
    content: Type.Union([Type.String(), Type.Array(ContentBlock)]),
  },
  { title: 'InputMessage' },
)

export type CustomTool = Static<typeof CustomTool>
const CustomTool = Type.Object({
  type: nullish(Type.Literal('custom')),
  name: Type.String({ minLength: 1 }),
  description: nullish(Type.String()),
  input_schema: FreeObject,
  strict: nullish(Type.Boolean()),
})

export type AnthropicTool = Static<typeof AnthropicTool>
/** A tool that Anthropic defines, such as `bash_20250124`. */
const AnthropicTool = Type.Object({
  type: Type.String({ minLength: 1, maxLength: 100, not: { enum: ['custom'] } }),
})

export type ToolChoice = Static<typeof ToolChoice>
const ToolChoice = Type.Object({
  type: stringEnum(['auto', 'any', 'tool', 'none']),
  name: nullish(Type.String()),
  disable_parallel_tool_use: nullish(Type.Boolean()),
})

export type Thinking = Static<typeof Thinking>
const Thinking = Type.Object({
  type: Type.String(),
  budget_tokens: nullish(Type.Integer({ minimum: 0, maximum: maxInteger })),
  display: nullish(Type.String()),
})

const OutputFormat = Type.Object({ type: Type.Literal('json_schema'), schema: FreeObject })

const OutputConfig = Type.Object({
  effort: nullish(stringEnum(['low', 'medium', 'high', 'xhigh', 'max'])),
  format: nullish(OutputFormat),
})

/** What a request and a request to count its tokens have in common. */
const promptFields = {
  model: Type.String(),
  messages: Type.Array(InputMessage, { minItems: 1 }),
  system: nullish(Type.Union([Type.String(), Type.Array(TextBlock)])),
  tools: nullish(Type.Array(Type.Union([CustomTool, AnthropicTool]))),
  tool_choice: nullish(ToolChoice),
  thinking: nullish(Thinking),
  output_config: nullish(OutputConfig),
  output_format: nullish(OutputFormat),
  mcp_servers: nullish(Type.Array(FreeObject)),
  container: nullish(Type.Union([Type.String(), FreeObject])),
  thread: nullish(FreeObject),
}

export type CountTokensRequest = Static<typeof CountTokensRequest>
/** The body of a request to count tokens; other properties are allowed. */
export const CountTokensRequest = Type.Object(promptFields, { title: 'CountTokensRequest' })

export type MessageRequest = Static<typeof MessageRequest>
/** The body of a request for a message; other properties are allowed. */
export const MessageRequest = Type.Object(
  {
    ...promptFields,
    max_tokens: Type.Integer({ minimum: 1, maximum: maxInteger }),
    stream: nullish(Type.Boolean()),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: nullish(Type.Integer({ minimum: 0, maximum: maxInteger })),
    stop_sequences: nullish(Type.Array(Type.String({ minLength: 1 }), { maxItems: 1024 })),
    metadata: nullish(Type.Object({ user_id: nullish(Type.String()) })),
    service_tier: nullish(stringEnum(['auto', 'standard_only'])),
  },
  {
    title: 'MessageRequest',
    examples: [{ model: 'weir/echo', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] }],
  },
)

/** The contract of a request for a message. */
export const messageRequest = createValidator(MessageRequest, rejectThread)

/** The contract of a request to count tokens. */
export const countTokensRequest = createValidator(CountTokensRequest, rejectThread)

/** A thread holds the earlier messages: without it, the model would receive only the last ones. */
function rejectThread({ thread }: Pick<CountTokensRequest, 'thread'>): void {
  if (thread != null) throw threadsUnsupported()
}
