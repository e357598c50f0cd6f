import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { layerBreach, pageObjects } from '../support/layers.ts'
import { importsOf, projectFolder, resolveImport, type SourceFile, sourceFiles } from '../support/source.ts'

const source = await sourceFiles('src')
const tests = await sourceFiles('test')
const files = [...source, ...tests]

test.each([
  ['src/gateway/a.ts', 'src/providers/b.ts', true],
  ['src/gateway/a.ts', 'src/gateway/deep/b.ts', true],
  ['src/api/responses/a.ts', 'src/http/b.ts', true],
  ['src/build/a.ts', 'src/main.ts', true],
  ['src/main.ts', 'package.json', true],
  ['src/providers/a.ts', 'src/gateway/b.ts', false],
  ['src/api/responses/a.ts', 'src/api/models/b.ts', false],
  ['src/lib/a.ts', 'src/domain/b.ts', false],
  ['src/cli/a.ts', 'src/build/b.ts', false],
  ['src/page/a.tsx', 'src/lib/b.ts', true],
  ['src/page/a.tsx', 'src/domain/b.ts', false],
  ['src/page/a.tsx', 'src/http/objects/b.ts', false],
  [pageObjects, 'src/http/objects/b.ts', true],
  [pageObjects, 'src/http/b.ts', false],
  ['src/api/page/a.ts', 'src/page/b.tsx', false],
  ['src/build/a.ts', 'src/page/b.tsx', false],
  ['src/lib/a.ts', 'src/unheard-of/b.ts', false],
])('the layers decide whether %s may import %s: %p', (importing, imported, allowed) => {
  expect(layerBreach(importing, imported) === null).toBe(allowed)
})

test('types, side effects and lazy imports count as imports', () => {
  const text = [
    "import type { A } from './a.ts'",
    "import { type B,\n  c } from './b.ts'",
    "export * from './d.ts'",
    "import './e.ts'",
    "const f = () => import('./f.ts')",
  ].join('\n')
  expect(importsOf({ path: 'src/lib/x.ts', text }).toSorted()).toEqual(
    ['a', 'b', 'd', 'e', 'f'].map((name) => `./${name}.ts`),
  )
})

test('a file imports its own folder or a lower layer', () => {
  const breaches = source.flatMap((file) =>
    localImports(file).flatMap((imported) => layerBreach(file.path, imported) ?? []),
  )
  expect(breaches).toEqual([])
})

test('the page imports only types of the objects of the API', () => {
  const [objects] = source.filter(({ path }) => path === pageObjects)
  expect(objects?.text).toContain('import type { Static')
  expect(objects?.text).not.toMatch(/^import (?!type )|\bimport\(/m)
})

test('nothing in src imports a test', () => {
  expect(importing(source, (path) => resolved(path)?.startsWith('test/'))).toEqual([])
})

test('a relative import names the file with its extension', () => {
  expect(
    importing(
      files,
      ({ specifier }) => /^\.\.?(\/|$)/.test(specifier) && !/\.(tsx?|json|sql|css)$/.test(specifier),
    ),
  ).toEqual([])
})

test('only the storage and the feature stores use SQL', () => {
  const outside = source.filter(({ path }) => !/^src\/storage\/|\/store\.ts$/.test(path))
  expect(importing(outside, ({ specifier }) => /^drizzle-orm\b|^bun:sqlite$/.test(specifier))).toEqual([])
})

test('only the server and the commands open the store, and all others know no more of it than its ports', () => {
  const outside = source.filter(({ path }) => !path.startsWith('src/storage/'))
  const store = /^src\/storage\/(?!ports\/)/
  const opening = /^src\/storage\/([a-z-]+|copy\/copy-(database|endpoints)|usage\/operator-report)\.ts$/
  const breaches = importing(outside, (found) => {
    const path = resolved(found) ?? ''
    return store.test(path) && !(/^src\/(server|cli)\//.test(found.file.path) && opening.test(path))
  })
  expect(breaches).toEqual([])
})

test('only the storage knows the two databases: all others open either with the same call', () => {
  const outside = source.filter(({ path }) => !path.startsWith('src/storage/'))
  const driver = /^src\/storage\/(sqlite|postgres)\//
  expect(importing(outside, (found) => driver.test(resolved(found) ?? ''))).toEqual([])
})

test('the ports of the store know no implementation of it', () => {
  const ports = source.filter(({ path }) => path.startsWith('src/storage/ports/'))
  expect(importing(ports, (found) => /^src\/storage\/(?!ports\/)/.test(resolved(found) ?? ''))).toEqual([])
  expect(importing(ports, ({ specifier }) => /^drizzle-orm\b|^bun:/.test(specifier))).toEqual([])
})

test('schemas are those of typebox, never the builder of elysia', () => {
  expect(matching(files, /import\s*\{[^}]*\bt\b[^}]*\}\s*from 'elysia'/)).toEqual([])
})

test('no file is longer than 250 lines', () => {
  const long = files.filter(({ text }) => text.trimEnd().split('\n').length > 250)
  expect(long.map(({ path }) => path)).toEqual([])
})

test('no file is called index.ts', () => {
  expect(files.map(({ path }) => path).filter((path) => path.endsWith('/index.ts'))).toEqual([])
})

test('only the command line, the log and the build write to the console', () => {
  const outside = source.filter(({ path }) => !/^src\/(cli\/|build\/|main\.ts|lib\/log\.ts)/.test(path))
  expect(matching(outside, /\bconsole\s*\./)).toEqual([])
})

test('no comment postpones work, and no path is that of one machine', () => {
  // One letter of each stands in brackets, so that this file does not find itself.
  const putOff = /\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b/
  const oneMachine = /\/(wor[k]|roo[t])\//
  expect(matching(files, putOff)).toEqual([])
  expect(matching(files, oneMachine)).toEqual([])
})

test('the lock file names packages and not registries', async () => {
  expect(await Bun.file(join(projectFolder, 'bun.lock')).text()).not.toContain('://')
})

type Import = { readonly file: SourceFile; readonly specifier: string }

function importing(
  among: readonly SourceFile[],
  forbidden: (found: Import) => boolean | undefined,
): string[] {
  const imports = among.flatMap((file) => importsOf(file).map((specifier) => ({ file, specifier })))
  return imports.filter(forbidden).map(({ file, specifier }) => `${file.path} imports ${specifier}`)
}

function resolved({ file, specifier }: Import): string | null {
  return resolveImport(file, specifier)
}

function localImports(file: SourceFile): string[] {
  return importsOf(file).flatMap((specifier) => resolveImport(file, specifier) ?? [])
}

function matching(among: readonly SourceFile[], pattern: RegExp): string[] {
  return among.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
}
