import { Compile } from 'typebox/compile'
import { type FastMode, ModelFacts } from '../../config/model-facts.ts'
import { onlyByResponses } from './api.ts'
import { supportedParameters } from './parameters.ts'
import { toPricing } from './pricing.ts'
import { reasoningFacts } from './reasoning.ts'
import { holdsChat, type Selected } from './select.ts'
import type { SourceModel } from './source.ts'

const validator = Compile(ModelFacts)

/** The catalog entry of a model. */
export function toModelFacts({ provider, model }: Selected): ModelFacts {
  const reasoning = reasoningFacts(provider, model)
  const facts = {
    slug: `${provider.author}/${model.id}`,
    enabled: holdsChat(model) ? undefined : false,
    display_name: model.name,
    author: hostedAuthor(model.id) ?? provider.author,
    released: model.release_date.length === 7 ? `${model.release_date}-01` : model.release_date,
    context_window: model.limit.context || undefined,
    max_output_tokens: model.limit.output || undefined,
    pricing: toPricing(model.cost),
    input_modalities: model.modalities.input.map(toModality),
    output_modalities: model.modalities.output.map(toModality),
    supported_parameters: supportedParameters(provider, model, reasoning),
    reasoning,
    fast: fastMode(model),
    routes: [
      {
        provider: provider.name,
        model: model.id,
        api: onlyByResponses(provider, model) ? 'responses' : undefined,
      },
    ],
  }
  return checked(facts)
}

/** Hosts name the maker in the id: `Qwen/Qwen3.5-9B`. */
function hostedAuthor(id: string): string | undefined {
  const [author, name, ...more] = id.split('/')
  return name !== undefined && more.length === 0 ? author : undefined
}

function toModality(word: string): string {
  return word === 'pdf' ? 'file' : word
}

/** Of the fast modes only a service tier can be asked for; one that wants a header of its own is left out. */
function fastMode({ experimental }: SourceModel): FastMode | undefined {
  const fast = experimental?.modes?.fast
  const pricing = toPricing(fast?.cost)
  if (fast?.provider?.body?.service_tier !== 'priority' || !pricing) return undefined
  return { strategy: 'service_tier', service_tier: 'priority', pricing }
}

/** Without the absent fields, which the closed schema would refuse. */
function checked(facts: { readonly slug: string }): ModelFacts {
  const present: unknown = JSON.parse(JSON.stringify(facts))
  if (validator.Check(present)) return present
  const [first] = validator.Errors(present)
  throw new Error(`${facts.slug}${first?.instancePath ?? ''}: ${first?.message ?? 'not as expected'}`)
}
