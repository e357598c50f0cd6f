import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'

const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()])
const count = Type.Integer({ minimum: 0 })

const item = Type.Union([
  Type.Object({
    type: Type.Literal('message'),
    id: Type.String({ minLength: 1 }),
    status: Type.Enum(['in_progress', 'completed', 'incomplete']),
    role: Type.Literal('assistant'),
    content: Type.Array(
      Type.Object({
        type: Type.Literal('output_text'),
        text: Type.String(),
        annotations: Type.Array(Type.Object({})),
      }),
    ),
  }),
  Type.Object({
    type: Type.Literal('reasoning'),
    id: Type.String({ minLength: 1 }),
    summary: Type.Array(Type.Object({ type: Type.Literal('summary_text'), text: Type.String() })),
  }),
])

/** The properties that Open Responses requires of every response object. */
export const openResponse = Compile(
  Type.Object({
    id: Type.String({ minLength: 1 }),
    object: Type.Literal('response'),
    created_at: count,
    completed_at: nullable(count),
    status: Type.String(),
    model: Type.String(),
    output: Type.Array(item),
    previous_response_id: nullable(Type.String()),
    instructions: nullable(Type.String()),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    incomplete_details: nullable(Type.Object({ reason: Type.String() })),
    tools: Type.Array(Type.Object({})),
    tool_choice: Type.Union([Type.String(), Type.Object({})]),
    truncation: Type.Enum(['auto', 'disabled']),
    parallel_tool_calls: Type.Boolean(),
    text: Type.Object({ format: Type.Object({ type: Type.String() }) }),
    temperature: Type.Number(),
    top_p: Type.Number(),
    presence_penalty: Type.Number(),
    frequency_penalty: Type.Number(),
    top_logprobs: count,
    reasoning: nullable(Type.Object({ effort: nullable(Type.String()), summary: nullable(Type.String()) })),
    usage: nullable(
      Type.Object({
        input_tokens: count,
        input_tokens_details: Type.Object({ cached_tokens: count }),
        output_tokens: count,
        output_tokens_details: Type.Object({ reasoning_tokens: count }),
        total_tokens: count,
      }),
    ),
    max_output_tokens: nullable(count),
    max_tool_calls: nullable(count),
    store: Type.Boolean(),
    background: Type.Boolean(),
    service_tier: Type.String(),
    metadata: Type.Object({}),
    safety_identifier: nullable(Type.String()),
    prompt_cache_key: nullable(Type.String()),
  }),
)
