import type { Effort, Generation } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import { includesReasoning, tierOf } from './lower-extras.ts'
import type { ResponseRequest } from './schema.ts'

/** The part of a response that does not change while it is in progress, in its wire format; it is stored as JSON. */
export type ResponseHead = {
  readonly id: string
  /** In whole Unix seconds. */
  readonly created_at: number
  /** The slug of the requested model. */
  readonly model: string
  readonly background: boolean
  readonly store: boolean
  readonly instructions: string | null
  readonly max_output_tokens: number | null
  readonly temperature: number | null
  readonly top_p: number | null
  readonly parallel_tool_calls: boolean
  readonly previous_response_id: string | null
  readonly reasoning: ReasoningSettings | null
  readonly text: Fields & { readonly format: Fields & { readonly type: string } }
  readonly tool_choice: unknown
  /** The tools of the request; absent if it has none. */
  readonly tools?: readonly Fields[]
  /** The names of the tools that items of the conversation add; absent if there are none. */
  readonly additional_tools?: readonly Fields[]
  /** The request includes the state of the reasoning, for a caller who stores the conversation. */
  readonly encrypted_reasoning?: true
  readonly truncation: string | null
  readonly metadata: Fields
  readonly user: string | null
  /** The requested tier; absent if the request has none. */
  readonly service_tier?: NonNullable<Generation['serviceTier']>
  /** The warnings that were known before the request was sent to a provider. */
  readonly warnings: readonly string[]
}

/** The reasoning settings of the request; both fields are always present. */
type ReasoningSettings = {
  readonly effort: Effort | null
  readonly summary: 'auto' | 'concise' | 'detailed' | null
}

type HeadParts = {
  readonly id: string
  /** In whole Unix seconds. */
  readonly createdAt: number
  readonly slug: string
  readonly warnings: readonly string[]
  readonly additionalTools?: readonly Fields[]
}

/** The head of the response to this request. */
export function headOf(
  request: ResponseRequest,
  { id, createdAt, slug, warnings, additionalTools = [] }: HeadParts,
): ResponseHead {
  const tier = tierOf(request)
  return {
    id,
    created_at: createdAt,
    model: slug,
    background: request.background ?? false,
    store: request.store ?? true,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    temperature: request.temperature ?? null,
    top_p: request.top_p ?? null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: reasoningOf(request),
    text: { ...request.text, format: request.text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    ...(request.tools?.length ? { tools: request.tools } : {}),
    ...(additionalTools.length > 0 ? { additional_tools: additionalTools } : {}),
    ...(includesReasoning(request) ? { encrypted_reasoning: true } : {}),
    truncation: request.truncation ?? null,
    metadata: request.metadata ?? {},
    user: request.user ?? null,
    ...(tier === undefined ? {} : { service_tier: tier }),
    warnings,
  }
}

function reasoningOf({ reasoning }: ResponseRequest): ReasoningSettings | null {
  return reasoning == null ? null : { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null }
}
