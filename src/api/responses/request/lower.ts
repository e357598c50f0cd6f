import type { Parameter } from '../../../domain/generation/parameters.ts'
import type { Generation, Message } from '../../../domain/generation/request.ts'
import { Warnings } from '../../../domain/generation/warnings.ts'
import { badRequest, unsupportedParameter } from '../../../lib/errors/errors.ts'
import type { Item } from './items.ts'
import { extrasOf, tierOf, warnOfIgnored } from './lower-extras.ts'
import { lowerFormat } from './lower-format.ts'
import { lowerItems } from './lower-items.ts'
import type { ResponseRequest } from './schema.ts'

/** A request as the gateway's own `Generation`. */
export type Lowered = {
  readonly generation: Generation
  /** The names of parameters in this API, where they differ from those of chat completions. */
  readonly names: Partial<Record<Parameter, string>>
  readonly warnings: readonly string[]
}

const names = {
  max_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
}

/**
 * Lowers a request to a generation for any model: `context` has the items of the previous responses, the oldest first,
 * `input` those of the request; references are resolved. Throws 400 for fields that are invalid only in combination, and
 * for what is not supported.
 */
export function lower(request: ResponseRequest, context: readonly Item[], input: readonly Item[]): Lowered {
  rejectTools(request)
  rejectUnstoredRun(request)
  const warnings = new Warnings()
  const messages = [...lowerInstructions(request), ...lowerItems(context, input, warnings.add)]
  if (messages.length === 0) throw emptyInput(input)
  warnOfIgnored(request, warnings.add)
  const generation: Generation = {
    messages,
    tools: [],
    format: lowerFormat(request.text?.format),
    maxTokens: request.max_output_tokens ?? undefined,
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    effort: request.reasoning?.effort ?? undefined,
    serviceTier: tierOf(request),
    user: request.user ?? undefined,
    extras: extrasOf(request),
  }
  return { generation, names, warnings: warnings.sentences() }
}

function rejectTools({ tools }: ResponseRequest): void {
  if (tools == null || tools.length === 0) return
  const message =
    "Unsupported parameter: 'tools' is not supported by /v1/responses. Use /v1/chat/completions instead."
  throw unsupportedParameter(message, 'tools')
}

function rejectUnstoredRun({ background, store }: ResponseRequest): void {
  if (background !== true || store !== false) return
  const message =
    "Unsupported parameter: 'background' requires the response to be stored. Remove 'store', or set it to true."
  throw unsupportedParameter(message, 'background')
}

function lowerInstructions({ instructions }: ResponseRequest): readonly Message[] {
  return instructions ? [{ role: 'system', parts: [{ type: 'text', text: instructions }] }] : []
}

function emptyInput(input: readonly Item[]) {
  const message = "Invalid 'input': must have content for the model, unless 'previous_response_id' is set."
  return badRequest(message, input.length === 0 ? 'empty_array' : 'invalid_value', 'input')
}
