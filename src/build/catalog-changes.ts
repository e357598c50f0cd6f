import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import type { ModelDetails, Pricing } from '../config/model-details.ts'

const prices = Type.Partial(
  Type.Object({
    input: Type.Number(),
    output: Type.Number(),
    cache_read: Type.Number(),
    cache_write: Type.Number(),
  }),
)

/** What has changed about a model since the file of models.dev. */
type ModelChange = Static<typeof ModelChange>
const ModelChange = Type.Object({
  slug: Type.String(),
  kind: Type.String(),
  /** YYYY-MM-DD; null if it was always so. */
  effective: Type.Union([Type.String(), Type.Null()]),
  now: Type.Optional(prices),
})
const changesFile = Compile(Type.Object({ changes: Type.Array(ModelChange) }))

/** Parses a file of changes. */
export function parseChanges(file: unknown): readonly ModelChange[] {
  if (changesFile.Check(file)) return file.changes
  const [, [first]] = changesFile.Errors(file)
  throw new Error(`changes${first?.instancePath ?? ''}: ${first?.message ?? 'not as expected'}`)
}

/**
 * Applies the changes up to the day of the snapshot. A model that has ended, and an alias without a known price, is no
 * longer in the catalog.
 */
export function applyChanges(
  models: readonly ModelDetails[],
  changes: readonly ModelChange[],
  snapshot: string,
): readonly ModelDetails[] {
  const bySlug = Map.groupBy(changes, ({ slug }) => slug)
  return models.flatMap((model) => {
    let changed: ModelDetails | undefined = model
    for (const change of bySlug.get(model.slug) ?? [])
      changed = changed && applyChange(changed, change, snapshot)
    return changed ?? []
  })
}

function applyChange(
  model: ModelDetails,
  { kind, now, effective }: ModelChange,
  snapshot: string,
): ModelDetails | undefined {
  switch (kind) {
    case 'repriced':
    case 'missing':
      return { ...model, pricing: { ...model.pricing, ...now } }
    case 'wrong':
      return now && { ...model, pricing: { ...model.pricing, ...now } satisfies Pricing }
    case 'retired':
      return undefined
    case 'retiring':
      // The day on which the end was announced is none that callers must know.
      return effective !== null && effective > snapshot ? { ...model, shutdown_date: effective } : model
    default:
      return model
  }
}
