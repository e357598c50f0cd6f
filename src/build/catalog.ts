import { parseArgs } from 'node:util'
import { formatCatalog } from './catalog/catalog-file.ts'
import { toModelFacts } from './catalog/model.ts'
import { selectModels } from './catalog/source.ts'

const usage = `Usage: bun src/build/catalog.ts API_JSON [--snapshot YYYY-MM-DD] [--commit SHA] [--out FILE]

Updates the built-in catalog from the api.json of models.dev:
  curl -o api.json https://models.dev/api.json
  bun src/build/catalog.ts api.json`

/** Writes the catalog from a file of models.dev. */
async function writeCatalog(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      snapshot: { type: 'string', default: new Date().toISOString().slice(0, 10) },
      commit: { type: 'string' },
      out: { type: 'string', default: `${import.meta.dir}/../config/catalog.json` },
    },
  })
  const [path] = positionals
  if (path === undefined) throw new Error(usage)
  const models = selectModels(await Bun.file(path).json()).map(toModelFacts)
  await Bun.write(values.out, formatCatalog({ snapshot: values.snapshot, commit: values.commit, models }))
  console.log(`${models.length} models of ${values.snapshot} written to ${values.out}`)
}

if (import.meta.main) await writeCatalog()
