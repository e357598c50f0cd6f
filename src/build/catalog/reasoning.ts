import type { ReasoningDetails } from '../../config/model-details.ts'
import { type Effort, efforts } from '../../domain/generation/request.ts'
import type { DirectProvider } from './direct-providers.ts'
import type { SourceModel } from './source.ts'

/** Returns how the reasoning of the model can be configured; undefined for a model without reasoning. */
export function reasoningFacts(provider: DirectProvider, model: SourceModel): ReasoningDetails | undefined {
  if (!model.reasoning) return undefined
  const optional = canDisableReasoning(provider, model)
  const levels = effortLevels(model, optional)
  return {
    supported_efforts: optional ? ['none', ...levels] : levels,
    ...(optional ? optionalDefaults(provider, model) : mandatoryDefaults(levels)),
  }
}

/** Returns the efforts above none: three levels for a token budget, one for a toggle. */
function effortLevels(model: SourceModel, optional: boolean): Effort[] {
  const listedEfforts = efforts.filter((effort) => effort !== 'none' && effortValues(model).includes(effort))
  if (listedEfforts.length > 0) return listedEfforts
  if (optionOf(model, 'budget_tokens')) return ['low', 'medium', 'high']
  return optional ? ['medium'] : []
}

function canDisableReasoning(provider: DirectProvider, model: SourceModel): boolean {
  // Claude reasons only on request, except for models that always reason.
  if (provider.name === 'anthropic') return !/fable|mythos/.test(model.id)
  const acceptsZeroBudget = optionOf(model, 'budget_tokens')?.min === 0
  return effortValues(model).includes('none') || optionOf(model, 'toggle') !== undefined || acceptsZeroBudget
}

function effortValues(model: SourceModel): readonly (string | null)[] {
  return optionOf(model, 'effort')?.values ?? []
}

function optionOf(model: SourceModel, type: string) {
  return model.reasoning_options?.find((option) => option.type === type)
}

function mandatoryDefaults(levels: readonly Effort[]) {
  const [only, another] = levels
  const fixed = only !== undefined && another === undefined ? { default_effort: only } : {}
  return { ...fixed, default_enabled: true, mandatory: true }
}

function optionalDefaults(provider: DirectProvider, model: SourceModel) {
  if (provider.name !== 'openai') return { mandatory: false }
  if (reasonsOnlyOnRequest(model))
    return { default_effort: 'none' as const, default_enabled: false, mandatory: false }
  return { default_enabled: true, mandatory: false }
}

/** True for GPT-5.1 to 5.4. Earlier models always reason; later ones reason by default. */
export function reasonsOnlyOnRequest(model: SourceModel): boolean {
  return /^gpt-5\.[1-4](-|$)/.test(model.id) && effortValues(model).includes('none')
}
