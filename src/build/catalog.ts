import { parseArgs } from 'node:util'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { routeInSlug } from '../config/catalog.ts'
import { toModelFacts } from '../cli/catalog/models-dev-entry.ts'
import { directProviders } from '../cli/catalog/direct-providers.ts'
import {
  hasText,
  isDeprecated,
  type SelectedModel,
  type SourceModel,
  sourceModels,
} from '../cli/catalog/models-dev-source.ts'
import type { ModelDetails, Pricing } from '../config/model-details.ts'
import { pricingAt } from '../gateway/models/dated-prices.ts'
import { type Fields, fieldsOf } from '../lib/json/json.ts'

const usage = `Usage: bun src/build/catalog.ts API_JSON [--additions FILE] [--changes FILE]
         [--snapshot YYYY-MM-DD] [--commit SHA] [--out FILE]

Updates the built-in catalog from the api.json of models.dev:
  curl -o api.json https://models.dev/api.json
  bun src/build/catalog.ts api.json

--additions has newer models in the form of the same file, --changes what has changed about older ones.`

/** Writes the catalog from a file of models.dev. */
async function writeCatalog(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      snapshot: { type: 'string', default: new Date().toISOString().slice(0, 10) },
      commit: { type: 'string' },
      additions: { type: 'string' },
      changes: { type: 'string' },
      out: { type: 'string', default: `${import.meta.dir}/../config/catalog.json` },
    },
  })
  const [path] = positionals
  if (path === undefined) throw new Error(usage)
  const { snapshot } = values
  const read = async (file: string | undefined): Promise<unknown> => file && (await Bun.file(file).json())
  const file = withAdditions(await read(path), await read(values.additions))
  const changes = parseChanges((await read(values.changes)) ?? { changes: [] })
  const models = applyChanges(selectModels(file).map(toModelFacts), changes, snapshot)
  await Bun.write(values.out, formatCatalog({ snapshot, commit: values.commit, models }))
  console.log(`${models.length} models of ${snapshot} written to ${values.out}`)
}

/** Returns the file with the models of another file of the same form added; their fields replace those of the first. */
export function withAdditions(file: unknown, additions: unknown): unknown {
  const added = Object.entries(fieldsOf(fieldsOf(additions).providers)).map(([name, provider]) => {
    const known = fieldsOf(fieldsOf(fieldsOf(file)[name]).models)
    const models = Object.entries(fieldsOf(fieldsOf(provider).models))
    const merged = models.map(([id, model]) => [id, addedModel(fieldsOf(known[id]), fieldsOf(model))])
    return [name, { models: { ...known, ...Object.fromEntries(merged) } }]
  })
  return { ...fieldsOf(file), ...Object.fromEntries(added) }
}

/** Additions do not have what is true of all of them, or is not known. */
function addedModel(known: Fields, model: Fields): Fields {
  const limit = { context: 0, output: 0, ...fieldsOf(known.limit), ...fieldsOf(model.limit) }
  return { tool_call: true, ...known, ...model, limit }
}

/** Selects the models of the direct providers that output text and are not deprecated. */
export function selectModels(file: unknown): SelectedModel[] {
  return directProviders.flatMap((provider) =>
    sourceModels(file, provider.source)
      .filter((model) => hasText(model) && !isDeprecated(model) && !isFree(model))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((model) => ({ provider, model })),
  )
}

/** The content of the catalog file. */
type CatalogFile = {
  /** The date of the data, YYYY-MM-DD. */
  readonly snapshot: string
  readonly commit?: string
  readonly models: readonly ModelDetails[]
}

/** Formats the catalog with one line a model, so that a diff shows what changed. */
export function formatCatalog({ snapshot, commit, models }: CatalogFile): string {
  const source = ['models.dev, MIT licence', ...(commit ? [`commit ${commit}`] : [])].join(', ')
  const head = Object.entries({ snapshot, source, notice }).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  )
  const lines = models.map((model) => `    ${JSON.stringify(withoutRouteInSlug(model))}`)
  return `{\n${head.join('')}  "models": [\n${lines.join(',\n')}\n  ]\n}\n`
}

function withoutRouteInSlug(model: ModelDetails): ModelDetails {
  const { routes, ...details } = model
  return Bun.deepEquals(routes, [routeInSlug(model.slug)]) ? details : model
}

/** A price of zero may be a promotion: a free model is one that the settings name. */
function isFree({ cost }: SourceModel): boolean {
  return cost?.input === 0 && cost.output === 0
}

const prices = Type.Partial(
  Type.Object({
    input: Type.Number(),
    output: Type.Number(),
    cache_read: Type.Number(),
    cache_write: Type.Number(),
    input_audio: Type.Number(),
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
  /** The id of the model that its provider names as the next. */
  replacement: Type.Optional(Type.String()),
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
 * longer in the catalog. A model that its provider is going to replace has the prices of the next from that day on.
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
    return changed ? withAccess(withNextPrices(changed, bySlug.get(changed.slug) ?? [], models)) : []
  })
}

/** Google answers requests for a model that has ended with its replacement, at the prices of that one. */
function withNextPrices(
  model: ModelDetails,
  changes: readonly ModelChange[],
  models: readonly ModelDetails[],
): ModelDetails {
  const from = model.shutdown_date
  const replacement = changes.find((change) => change.effective === from)?.replacement
  const next = models.find(({ slug }) => slug === `google/${replacement}`)
  if (!model.slug.startsWith('google/') || from === undefined || next?.pricing === undefined) return model
  const begin = { effective_from: from, pricing: pricingAt(next, Date.parse(from)) ?? next.pricing }
  const later = (next.price_changes ?? []).filter(({ effective_from }) => effective_from > from)
  return { ...model, price_changes: [begin, ...later] }
}

/** Anthropic serves these models only to organizations that it has verified. */
const restricted = new Set(['anthropic/claude-mythos-5-1'])

function withAccess(model: ModelDetails): ModelDetails {
  return restricted.has(model.slug) ? { ...model, enabled: false } : model
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

/** The licence of models.dev, which must accompany its data. */
const notice = `MIT License

Copyright (c) 2025 models.dev

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`

if (import.meta.main) await writeCatalog()
