import type { Effort, Generation } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import { tierOf } from './lower-extras.ts'
import type { ResponseRequest } from './schema.ts'

/** What a response says of itself from its beginning to its end, as the wire has it; it can be stored as JSON. */
export type ResponseHead = {
  readonly id: string
  /** In whole seconds. */
  readonly created_at: number
  /** The slug that the caller meant. */
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
  readonly truncation: string | null
  readonly metadata: Fields
  readonly user: string | null
  /** The tier that was asked for; absent where none was. */
  readonly service_tier?: NonNullable<Generation['serviceTier']>
  /** What was known of losses before a provider was asked. */
  readonly warnings: readonly string[]
}

/** What was asked of the reasoning, with both words in any case. */
export type ReasoningSettings = {
  readonly effort: Effort | null
  readonly summary: 'auto' | 'concise' | 'detailed' | null
}

type Given = {
  readonly id: string
  /** In whole seconds. */
  readonly createdAt: number
  readonly slug: string
  readonly warnings: readonly string[]
}

/** The head of the response to this request. */
export function headOf(request: ResponseRequest, { id, createdAt, slug, warnings }: Given): ResponseHead {
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
