import type { ReasoningDetails } from '../../config/model-details.ts'
import { type Parameter, parameters } from '../../domain/generation/parameters.ts'
import type { DirectProvider } from './direct-providers.ts'
import { reasonsOnlyOnRequest } from './reasoning.ts'
import { isResponsesOnly, type SourceModel } from './source.ts'

/** Returns the parameters of the provider's API without those that this model rejects. */
export function supportedParameters(
  provider: DirectProvider,
  model: SourceModel,
  reasoning: ReasoningDetails | undefined,
): Parameter[] {
  const unsupported = new Set<Parameter>([
    ...unsupportedByFlags(model),
    ...(isResponsesOnly(provider, model) ? unsupportedByResponses : []),
    ...(unsupportedByFamily[provider.name]?.(model) ?? []),
    ...(reasoning && reasoning.supported_efforts.length > 0 ? [] : (['reasoning_effort'] as const)),
  ])
  return parameters.filter(
    (parameter) => provider.parameters.includes(parameter) && !unsupported.has(parameter),
  )
}

/** Parameters that the Responses API does not have. */
const unsupportedByResponses = [
  'n',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
] as const

function unsupportedByFlags(model: SourceModel): Parameter[] {
  const unsupported: Parameter[] = []
  if (!model.tool_call) unsupported.push('tools', 'tool_choice', 'parallel_tool_calls')
  // The flag describes the reasoning mode; models that reason only on request support sampling otherwise.
  if (model.temperature === false && !reasonsOnlyOnRequest(model)) unsupported.push('temperature', 'top_p')
  if (model.structured_output === false) unsupported.push('response_format')
  return unsupported
}

type FamilyRule = (model: SourceModel) => readonly Parameter[]

/** Parameters that families of reasoning models reject. */
const unsupportedByFamily: Readonly<Record<string, FamilyRule>> = {
  openai: ({ id, temperature }) => {
    if (temperature !== false) return []
    const penalties = ['frequency_penalty', 'presence_penalty', 'logit_bias'] as const
    if (id.startsWith('o1')) return [...penalties, 'parallel_tool_calls']
    if (/^o\d/.test(id)) return [...penalties, 'stop', 'parallel_tool_calls']
    return [...penalties, 'stop']
  },
  xai: ({ reasoning }) => (reasoning ? ['stop', 'frequency_penalty', 'presence_penalty'] : []),
}
