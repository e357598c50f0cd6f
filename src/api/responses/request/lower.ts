import type { Parameter } from '../../../domain/generation/parameters.ts'
import type { Generation, Message } from '../../../domain/generation/request.ts'
import { Warnings } from '../../../domain/generation/warnings.ts'
import { badRequest, unsupportedParameter } from '../../../lib/errors/errors.ts'
import type { Item } from './items.ts'
import { extrasOf, tierOf, warnOfIgnored } from './lower-extras.ts'
import { lowerFormat } from './lower-format.ts'
import { lowerItems } from './lower-items.ts'
import type { ResponseRequest } from './schema.ts'
import { chooseTools } from './tool-choice.ts'
import { lowerTools, type ToolOptions } from './tools.ts'

/** A request as the gateway's own `Generation`. */
export type Lowered = {
  readonly generation: Generation
  /** The names of parameters in this API, where they differ from those of chat completions. */
  readonly names: Partial<Record<Parameter, string>>
  readonly warnings: readonly string[]
}

/** The items that a model receives; references are resolved. */
export type Conversation = {
  /** The items of the previous responses, the oldest first. */
  readonly context: readonly Item[]
  /** The items of the request itself. */
  readonly input: readonly Item[]
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
export function lower(
  request: ResponseRequest,
  { context, input }: Conversation,
  options: ToolOptions,
): Lowered {
  rejectUnstoredRun(request)
  const warnings = new Warnings()
  const all = lowerTools(request.tools, options, warnings.add)
  const { tools, choice } = chooseTools(request.tool_choice, all)
  const items = lowerItems(context, input, options.functionTools, warnings.add)
  const messages = [...lowerInstructions(request), ...items]
  if (messages.length === 0) throw emptyInput(input)
  warnOfIgnored(request, warnings.add)
  const generation: Generation = {
    messages,
    tools: tools.map(({ tool }) => tool),
    toolChoice: choice,
    parallelToolCalls: tools.length > 0 ? (request.parallel_tool_calls ?? undefined) : undefined,
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
