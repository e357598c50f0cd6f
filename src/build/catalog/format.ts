import type { ModelFacts } from '../../config/model-facts.ts'
import { notice } from './notice.ts'

/** The catalog as the file holds it. */
export type CatalogFile = {
  /** The day of the data, YYYY-MM-DD. */
  readonly snapshot: string
  readonly commit?: string
  readonly models: readonly ModelFacts[]
}

/** One line a model, so that a renewal shows what changed. */
export function formatCatalog({ snapshot, commit, models }: CatalogFile): string {
  const source = ['models.dev, MIT licence', ...(commit ? [`commit ${commit}`] : [])].join(', ')
  const head = Object.entries({ snapshot, source, notice }).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  )
  const lines = models.map((model) => `    ${JSON.stringify(model)}`)
  return `{\n${head.join('')}  "models": [\n${lines.join(',\n')}\n  ]\n}\n`
}
