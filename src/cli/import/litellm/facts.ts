import type { ModelDetails } from '../../../config/model-details.ts'
import type { Fields } from '../../../lib/json/json.ts'
import { readPricing } from './pricing.ts'
import { countOf, isFalse, isTrue } from './values.ts'

/** What the source says about a model. */
export type ImportedFacts = Pick<ModelDetails, 'context_window' | 'max_output_tokens' | 'pricing'> & {
  /** `supports_vision` and the like, where they are set. */
  readonly modalities: Readonly<Record<string, boolean>>
  /** Parameters that the model does or does not support. */
  readonly parameters: Readonly<Record<string, boolean>>
}

const modalityFlags = {
  supports_vision: 'image',
  supports_audio_input: 'audio',
  supports_video_input: 'video',
  supports_pdf_input: 'file',
} as const

const parameterFlags = {
  supports_function_calling: ['tools', 'tool_choice', 'parallel_tool_calls'],
  supports_parallel_function_calling: ['parallel_tool_calls'],
  supports_tool_choice: ['tool_choice'],
  supports_reasoning: ['reasoning_effort'],
} as const

/** Reads the facts of a model: prices may be in `litellm_params` too, and take precedence there. */
export function readFacts(info: Fields, params: Fields): ImportedFacts {
  const pricing = readPricing({ ...info, ...definedFields(params) })
  const contextWindow = countOf(info.max_input_tokens)
  const maxOutput = countOf(info.max_output_tokens) ?? countOf(info.max_tokens)
  return {
    ...(contextWindow !== undefined && { context_window: contextWindow }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(pricing !== undefined && { pricing }),
    modalities: flagsOf(info, modalityFlags),
    parameters: flagsOf(info, parameterFlags),
  }
}

/** The fields of `model_info` that `readFacts` reads, besides prices. */
export const factFields: readonly string[] = [
  'max_input_tokens',
  'max_output_tokens',
  'max_tokens',
  ...Object.keys(modalityFlags),
  ...Object.keys(parameterFlags),
]

function definedFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** A false flag counts more than a true one: no tool choice without tools. */
function flagsOf(
  info: Fields,
  names: Readonly<Record<string, string | readonly string[]>>,
): Record<string, boolean> {
  const flags: Record<string, boolean> = {}
  for (const [flag, targets] of Object.entries(names))
    for (const target of typeof targets === 'string' ? [targets] : targets) {
      if (isFalse(info[flag])) flags[target] = false
      if (isTrue(info[flag])) flags[target] ??= true
    }
  return flags
}
