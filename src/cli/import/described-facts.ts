import type { ModelDetails, Pricing } from '../../config/model-details.ts'
import { parseDuration } from '../../config/units.ts'
import { withoutEmpty } from '../../lib/json/json.ts'
import { remoteKind } from '../../providers/kinds/kinds.ts'
import type { Deployment } from './deployment.ts'

/**
 * The facts of a model of the settings: those of its deployments, the first one that has each. The facts of the catalog are
 * repeated only where the model has another slug than in the catalog, whose entry is `own`.
 */
export function describedFacts(
  deployments: readonly Deployment[],
  catalogModel: ModelDetails | undefined,
  own: ModelDetails | undefined,
): Omit<ModelDetails, 'slug'> {
  const base = own?.slug === catalogModel?.slug ? {} : factsToRepeat(catalogModel)
  const facts = deployments.map((deployment) => deployment.facts)
  const first = <Name extends 'context_window' | 'max_output_tokens'>(name: Name) =>
    facts.find((entry) => entry[name] !== undefined)?.[name]
  const api = deployments[0]?.otherApi
  const contextWindow = first('context_window')
  // LiteLLM repeats the prompt limit of an embedding model as its max_tokens.
  const maxOutput = api === 'embeddings' ? undefined : first('max_output_tokens')
  const [pricing] = distinctPricings(deployments)
  return {
    ...base,
    ...(contextWindow !== undefined && { context_window: contextWindow }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...((base.pricing ?? pricing) && { pricing: { ...base.pricing, ...pricing } }),
    ...(api !== undefined && !own?.supported_apis?.includes(api) && { supported_apis: [api] }),
    ...firstTokenTimeout(deployments),
    ...inputModalities(deployments, base.input_modalities ?? own?.input_modalities),
    ...(api === undefined &&
      supportedParameters(deployments, base.supported_parameters ?? own?.supported_parameters)),
  }
}

/**
 * The different prices of the deployments, the highest first: a model of Weir has one price for all of its routes, which
 * must not be lower than what a provider charges.
 */
export function distinctPricings(deployments: readonly Deployment[]): readonly Pricing[] {
  const pricings = deployments.flatMap(({ facts: { pricing } }) => pricing ?? [])
  const distinct = pricings.filter(
    (pricing, index) => pricings.findIndex((other) => Bun.deepEquals(other, pricing)) === index,
  )
  return distinct.toSorted((one, other) => sumOf(other) - sumOf(one))
}

function sumOf({ input = 0, output = 0 }: Pricing): number {
  return input + output
}

/** The longest `stream_timeout` of the deployments: a model of Weir has one timeout for all of its routes. */
function firstTokenTimeout(deployments: readonly Deployment[]): Pick<ModelDetails, 'timeouts'> {
  const [longest] = deployments
    .flatMap(({ streamTimeout }) => streamTimeout ?? [])
    .toSorted((one, other) => (parseDuration(other) ?? 0) - (parseDuration(one) ?? 0))
  return longest === undefined ? {} : { timeouts: { first_token: longest } }
}

function factsToRepeat(model: ModelDetails | undefined): Omit<ModelDetails, 'slug'> {
  if (model === undefined) return {}
  const { context_window, max_output_tokens, pricing, input_modalities, supported_parameters, reasoning } =
    model
  return withoutEmpty({
    context_window,
    max_output_tokens,
    pricing,
    input_modalities,
    supported_parameters,
    reasoning,
  })
}

function inputModalities(
  deployments: readonly Deployment[],
  known: ModelDetails['input_modalities'],
): Pick<ModelDetails, 'input_modalities'> {
  const flags = flagsOf(deployments, 'modalities')
  if (Object.keys(flags).length === 0) return {}
  const all = ['text', 'image', 'audio', 'video', 'file'] as const
  return {
    input_modalities: all.filter((modality) => flags[modality] ?? (known ?? ['text']).includes(modality)),
  }
}

/** Without a list of the model, its parameters are those of the provider's protocol. */
function supportedParameters(
  deployments: readonly Deployment[],
  known: readonly string[] | undefined,
): Pick<ModelDetails, 'supported_parameters'> {
  const flags = flagsOf(deployments, 'parameters')
  const kind = remoteKind(deployments[0]?.provider.draft.kind ?? '')
  const list = new Set(known ?? kind?.protocol.parameters)
  const changes = Object.entries(flags).filter(([name, supported]) => list.has(name) !== supported)
  if (changes.length === 0) return {}
  for (const [name, supported] of changes) {
    if (supported) list.add(name)
    else list.delete(name)
  }
  return { supported_parameters: [...list] }
}

function flagsOf(
  deployments: readonly Deployment[],
  name: 'modalities' | 'parameters',
): Record<string, boolean> {
  return Object.assign({}, ...deployments.map(({ facts }) => facts[name]).toReversed())
}
