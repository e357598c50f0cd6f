import data from './catalog.json'
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
/** The catalog of this build. */
export const catalog = catalogData as Catalog
