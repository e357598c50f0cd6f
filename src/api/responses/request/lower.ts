import type { Parameter } from '../../../domain/generation/parameters.ts'
import type { Generation, Message } from '../../../domain/generation/request.ts'
import { Warnings } from '../../../domain/generation/warnings.ts'
import { badRequest, unsupportedParameter } from '../../../lib/errors/errors.ts'
import type { Item } from './items.ts'
import { extrasOf, tierOf, warnOfIgnored } from './lower-extras.ts'
import { lowerFormat } from './lower-format.ts'
import { lowerItems } from './lower-items.ts'
import type { ResponseRequest } from './schema.ts'

/** A request for a response in the vocabulary of the gateway. */
export type Lowered = {
  readonly generation: Generation
  /** What the caller calls a parameter, where that is not its common name. */
  readonly names: Partial<Record<Parameter, string>>
  readonly warnings: readonly string[]
}

const names = {
  max_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
}

/**
 * The request as a question to any model: `context` is what was said in the responses before this one, oldest first,
 * `input` what this request adds, without references. What no single field can say wrong is checked here.
 */
export function lower(request: ResponseRequest, context: readonly Item[], input: readonly Item[]): Lowered {
  refuseTools(request)
  refuseUnstoredRun(request)
  const warnings = new Warnings()
  const messages = [...lowerInstructions(request), ...lowerItems(context, input, warnings.add)]
  if (messages.length === 0) throw nothingAsked(input)
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

function refuseTools({ tools }: ResponseRequest): void {
  if (tools == null || tools.length === 0) return
  const message = 'Tools are not offered here: send a request without them, or use chat completions.'
  throw unsupportedParameter(message, 'tools')
}

function refuseUnstoredRun({ background, store }: ResponseRequest): void {
  if (background !== true || store !== false) return
  const message = "A run in the background is read after it was stored: leave out 'store', or set it to true."
  throw unsupportedParameter(message, 'background')
}

function lowerInstructions({ instructions }: ResponseRequest): readonly Message[] {
  return instructions ? [{ role: 'system', parts: [{ type: 'text', text: instructions }] }] : []
}

function nothingAsked(input: readonly Item[]) {
  const message = "Invalid 'input': there is nothing in it that a model could be told, and nothing before it."
  return badRequest(message, input.length === 0 ? 'empty_array' : 'invalid_value', 'input')
}
