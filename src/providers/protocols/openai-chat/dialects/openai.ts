import type { Generation } from '../../../../domain/generation/request.ts'
import type { Target } from '../../protocol.ts'
import type { Dialect } from '../dialect.ts'

/** OpenAI, and Azure with OpenAI's models. */
export function openai(name: string): Dialect {
  return { name, renames: { max_tokens: 'max_completion_tokens' }, unsupportedByModel }
}

const samplingFields = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
]

/** A model that reasons rejects sampling parameters; most that can reason reject `stop`, also where they do not. */
function unsupportedByModel(target: Target, generation: Generation): readonly string[] {
  const model = target.family ?? target.model
  const sampling = reasons(model, generation.effort) ? samplingFields : []
  return /^(o3(?!-mini)|o4|gpt-[56])(?!.*chat)/.test(model) ? [...sampling, 'stop'] : sampling
}

/** Whether this is the name of a model of OpenAI, or begins with one. */
export function isModelOfOpenAi(name: string): boolean {
  return /^(o\d|gpt-|chatgpt|codex)/.test(name)
}

/** True where a model of OpenAI reasons at this effort. */
export function reasons(model: string, effort: string | undefined): boolean {
  if (/^(o\d|gpt-5(?![.\d])(?!-chat))/.test(model)) return true
  if (/^gpt-6(?!.*chat)/.test(model)) return effort !== 'none'
  const minor = /^gpt-5\.(\d+)(?!.*chat)/.exec(model)?.[1]
  if (minor === undefined || effort === 'none') return false
  // Up to 5.4, reasoning is disabled by default.
  return effort !== undefined || Number(minor) >= 5 || /-(pro|codex)/.test(model)
}
