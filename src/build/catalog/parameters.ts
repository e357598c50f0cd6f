import type { ReasoningFacts } from '../../config/model-facts.ts'
import { type Parameter, parameters } from '../../domain/generation/parameters.ts'
import { onlyByResponses } from './api.ts'
import type { DirectProvider } from './direct-providers.ts'
import { answersAtOnce } from './reasoning.ts'
import type { SourceModel } from './source.ts'

/** What the provider's interface takes, less what this model refuses. */
export function supportedParameters(
  provider: DirectProvider,
  model: SourceModel,
  reasoning: ReasoningFacts | undefined,
): Parameter[] {
  const refused = new Set<Parameter>([
    ...refusedByFlags(model),
    ...(onlyByResponses(provider, model) ? notAtResponses : []),
    ...(refusedByFamily[provider.name]?.(model) ?? []),
    ...(reasoning && reasoning.supported_efforts.length > 0 ? [] : (['reasoning_effort'] as const)),
  ])
  return parameters.filter((parameter) => provider.parameters.includes(parameter) && !refused.has(parameter))
}

/** What the Responses API has no word for. */
const notAtResponses = ['n', 'stop', 'seed', 'frequency_penalty', 'presence_penalty', 'logit_bias'] as const

function refusedByFlags(model: SourceModel): Parameter[] {
  const refused: Parameter[] = []
  if (!model.tool_call) refused.push('tools', 'tool_choice', 'parallel_tool_calls')
  // Chat models that answer at once sample as any other does, whatever the flag says of their reasoning.
  if (model.temperature === false && !answersAtOnce(model)) refused.push('temperature', 'top_p')
  if (model.structured_output === false) refused.push('response_format')
  return refused
}

type FamilyRule = (model: SourceModel) => readonly Parameter[]

/** What whole families of reasoning models refuse. */
const refusedByFamily: Readonly<Record<string, FamilyRule>> = {
  openai: ({ id, temperature }) => {
    if (temperature !== false) return []
    const penalties = ['frequency_penalty', 'presence_penalty', 'logit_bias'] as const
    if (id.startsWith('o1')) return [...penalties, 'parallel_tool_calls']
    if (/^o\d/.test(id)) return [...penalties, 'stop', 'parallel_tool_calls']
    return [...penalties, 'stop']
  },
  xai: ({ reasoning }) => (reasoning ? ['stop', 'frequency_penalty', 'presence_penalty'] : []),
}
