import data from './catalog.json'
import type { ModelFacts } from './model-facts.ts'

/** The built-in catalog: what was known of the models of the direct providers on one day. */
export type Catalog = {
  /** The day of the data, YYYY-MM-DD. */
  readonly snapshot: string
  readonly source: string
  /** The licence notice of the source. */
  readonly notice: string
  readonly models: readonly ModelFacts[]
}

// The script that writes the file checks each entry, and so does a test: no start pays for it again.
const catalogData: unknown = data
export const catalog = catalogData as Catalog
