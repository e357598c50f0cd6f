import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { external } from '../../src/build/compile.ts'
import { projectFolder } from '../support/source.ts'

test('help and usage errors load a handful of modules, and no package', async () => {
  const { atOnce: first } = await modulesOf('src/main.ts')
  expect(first).toContain('src/main.ts')
  expect(first.length).toBeLessThanOrEqual(20)
  expect(first.filter((path) => path.includes('node_modules'))).toEqual([])
})

test('a server loads a handful of modules, and no package, before it replaces its process', async () => {
  const { atOnce: first } = await modulesOf('src/cli/commands/serve.ts')
  expect(first).toContain('src/cli/serve/request-limit.ts')
  expect(first.length).toBeLessThanOrEqual(20)
  expect(first.filter((path) => path.includes('node_modules'))).toEqual([])
})

test('the modules that a server loads stay within their budget', async () => {
  const server = await modulesOf('src/cli/commands/serve.ts')
  const ours = server.all.filter((path) => path.startsWith('src/'))
  expect(ours.length).toBeGreaterThan(50)
  // Nine APIs, two stores, the audit log and the supervisor; the bytes below are what costs time.
  expect(ours.length).toBeLessThanOrEqual(640)
  expect(server.all.length - ours.length).toBeLessThanOrEqual(1500)
  // Also what only some servers load: PostgreSQL, workers, webhooks, the parser of settings.
  expect(server.bytes).toBeLessThanOrEqual(3.5e6)
})

test('a server on SQLite loads neither the PostgreSQL store nor its client', async () => {
  const { all, atOnce } = await modulesOf('src/cli/serve/serve-gateway.ts')
  const ofPostgres = (path: string) =>
    /storage\/postgres\/(?!connection\/database-url)|node_modules\/pg\//.test(path)
  expect(all.filter(ofPostgres).length).toBeGreaterThan(20)
  expect(atOnce).toContain('src/storage/sqlite/open-sqlite.ts')
  expect(atOnce.filter(ofPostgres)).toEqual([])
})

test('the server does not load the code of the bench and of the build', async () => {
  const { all } = await modulesOf('src/cli/commands/serve.ts')
  expect(all.filter((path) => /\/bench|^src\/build\/|^test\//.test(path))).toEqual([])
})

type Modules = {
  /** The modules that run before anything else can. */
  readonly atOnce: readonly string[]
  /** All that may be loaded. */
  readonly all: readonly string[]
  /** Their size once they are bundled, and not minified. */
  readonly bytes: number
}

type Metafile = {
  readonly inputs: Readonly<Record<string, ModuleFacts>>
}
type ModuleFacts = { readonly imports: readonly { readonly path: string; readonly kind: string }[] }

async function modulesOf(entry: string): Promise<Modules> {
  const built = await Bun.build({
    entrypoints: [join(projectFolder, entry)],
    root: projectFolder,
    target: 'bun',
    external,
    metafile: true,
  })
  const { inputs } = built.metafile as Metafile
  const bytes = built.outputs.reduce((sum, { size }) => sum + size, 0)
  return { atOnce: [...reached(entry, inputs)], all: Object.keys(inputs), bytes }
}

/** Without what is loaded on demand. */
function reached(entry: string, inputs: Metafile['inputs'], seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen
  seen.add(entry)
  for (const { path, kind } of inputs[entry]?.imports ?? [])
    if (kind !== 'dynamic-import' && path in inputs) reached(path, inputs, seen)
  return seen
}
