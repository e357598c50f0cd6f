import data from './catalog.json'
import type { CatalogUpdate } from './catalog-update.ts'
import type { ModelDetails } from './model-details.ts'

/** The built-in catalog: the models of the direct providers on the day of the snapshot. */
type Catalog = {
  /** The date of the data, YYYY-MM-DD. */
  readonly snapshot: string
  readonly source: string
  /** The licence notice of the source. */
  readonly notice: string
  readonly models: readonly ModelDetails[]
}

// The script that writes the file and a test validate each entry, so the program does not.
const catalogData: unknown = data
const written = catalogData as Catalog
/** The catalog of this build. */
export const catalog: Catalog = { ...written, models: written.models.map(withRoutes) }

/** The file omits the route of a model that is served by the provider that its slug names, under the rest of it. */
export function withRoutes(model: ModelDetails): ModelDetails {
  return { ...model, routes: model.routes ?? [routeInSlug(model.slug)] }
}

/** `openai/gpt-5` is the model `gpt-5` of the provider `openai`. */
export function routeInSlug(slug: string): { readonly provider: string; readonly model: string } {
  const end = slug.indexOf('/')
  return { provider: slug.slice(0, end), model: slug.slice(end + 1) }
}

/** The models of the built-in catalog, with the changes of an update. */
export function catalogModels(update: CatalogUpdate | undefined): readonly ModelDetails[] {
  if (update === undefined) return catalog.models
  const models = new Map(catalog.models.map((model) => [model.slug, model]))
  for (const changed of update.models) models.set(changed.slug, { ...models.get(changed.slug), ...changed })
  for (const slug of update.ended) models.delete(slug)
  return [...models.values()]
}

/** Names the data of the models: their day, and where an update of them came from. */
export function catalogOrigin(update: CatalogUpdate | undefined): string {
  const builtIn = `The built-in catalog is of ${catalog.snapshot}.`
  if (update === undefined) return builtIn
  const sources = update.sources.map(({ source, date }) => `on ${date} from ${source}`)
  return `${builtIn} It was updated ${sources.join(', ')}.`
}
