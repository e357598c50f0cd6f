import type { Model } from '../gateway/models/model.ts'

/** What models are to have in common; what is absent does not matter. */
export type ModelFilter = {
  /** A part of the slug, of an alias, or of a provider's own name of the model. */
  readonly text?: string | undefined
  /** The name of a provider that serves it. */
  readonly provider?: string | undefined
  readonly author?: string | undefined
}

/** The models that fit the filter, in their order. Upper and lower case are the same. */
export function filterModels(models: readonly Model[], filter: ModelFilter): readonly Model[] {
  const [text, provider, author] = [filter.text, filter.provider, filter.author].map((part) =>
    part?.toLowerCase(),
  )
  return models.filter((model) => {
    const names = [model.slug, ...model.aliases, ...model.routes.map((route) => route.model)]
    if (text !== undefined && !names.some((name) => name.toLowerCase().includes(text))) return false
    if (
      author !== undefined &&
      ![model.author, model.slug.split('/')[0]].some((name) => name?.toLowerCase() === author)
    )
      return false
    return (
      provider === undefined || model.routes.some((route) => route.provider.name.toLowerCase() === provider)
    )
  })
}
