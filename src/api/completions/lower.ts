import type { Generation } from '../../domain/generation/request.ts'
import type { LoweredRequest } from '../../gateway/models/prepare-generation.ts'
import { toInputs } from '../../http/inputs.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { fieldsBeside } from '../../lib/json/json.ts'
import { type CompletionRequest, knownProperties } from './schema.ts'

/** For all prompts together. */
const maxChoices = 128
/** As in OpenAI's API; some engines would generate without an end. */
const defaultMaxTokens = 16

/** Lowers a completion request; throws the 400 of one with too many prompts or choices. */
export function lower(request: CompletionRequest): LoweredRequest {
  const inputs = toInputs(request.prompt, 'prompt', maxChoices)
  // A provider generates, and charges, the choices of which it returns the best.
  const choices = Math.max(request.n ?? 1, request.best_of ?? 1)
  checkChoices(choices, inputs.length, request)
  const generation: Generation = {
    operation: 'completion',
    inputs,
    messages: [],
    tools: [],
    maxTokens: request.max_tokens ?? defaultMaxTokens,
    choices: choices === 1 ? undefined : choices,
    stop: lowerStop(request.stop),
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    seed: request.seed ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    logitBias: request.logit_bias ?? undefined,
    user: request.user ?? undefined,
    source: { protocol: 'openai-completions', body: request },
    extras: fieldsBeside(knownProperties, request) ?? {},
  }
  return { generation, names: {}, warnings: [] }
}

function checkChoices(choices: number, prompts: number, { n, best_of: bestOf }: CompletionRequest): void {
  if (choices * prompts <= maxChoices) return
  const param = (bestOf ?? 1) > (n ?? 1) ? 'best_of' : 'n'
  const message = `Invalid '${param}': the choices of all prompts together must be at most ${maxChoices}, not ${choices * prompts}.`
  throw badRequest(message, 'unsupported_value', param)
}

function lowerStop(stop: CompletionRequest['stop']): readonly string[] | undefined {
  const list = typeof stop === 'string' ? [stop] : (stop ?? [])
  return list.length === 0 ? undefined : list
}
