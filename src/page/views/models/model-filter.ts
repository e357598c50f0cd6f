import { capabilitiesOf, type Model } from './model.ts'

/** What the list of models is filtered by, as in the address; an empty text does not filter. */
export type ModelFilter = {
  readonly search: string
  readonly provider: string
  readonly capability: string
  readonly api: string
}

/** The models that have every word of the search in a name, and everything else of the filter. */
export function filterModels(models: readonly Model[], filter: ModelFilter): readonly Model[] {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean)
  return models.filter((model) => {
    const { slug, display_name, provider = '', author, owned_by } = model
    const searched = [slug, display_name, provider, author, owned_by].join(' ').toLowerCase()
    return (
      words.every((word) => searched.includes(word)) &&
      (filter.provider === '' || provider === filter.provider) &&
      (filter.capability === '' || capabilitiesOf(model).includes(filter.capability)) &&
      (filter.api === '' || model.supported_apis.includes(filter.api))
    )
  })
}

/** The values that a filter offers, in alphabetical order. */
export function choicesOf(models: readonly Model[], valuesOf: (model: Model) => readonly string[]) {
  return [...new Set(models.flatMap(valuesOf))].toSorted()
}
