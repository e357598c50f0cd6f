import { expect, test } from 'bun:test'
import { dirname, join, resolve } from 'node:path'
import { bundle, external } from '../../src/build/compile.ts'
import { collectThirdParty, packageFolder, packageLicense } from '../../src/build/licenses/third-party.ts'
import { licenseFiles } from '../../src/build/licenses.ts'
import { parseLicensePage } from '../../src/build/licenses/runtime-licenses.ts'
import { thirdParty } from '../../src/cli/commands/licenses.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { projectFolder } from '../support/source.ts'

const entry = join(projectFolder, 'src/main.ts')

test.each(licenseFiles(await collectThirdParty(await bundle(entry))))(
  '$path is what “bun run licenses” writes for this bundle',
  async ({ path, text }) => {
    expect(await Bun.file(join(projectFolder, path)).text()).toBe(text)
  },
)

test('every package that a source map of the bundle or of the page names is listed, and no other', async () => {
  const folders = [
    ...(await mappedPackages({ entrypoints: [entry], target: 'bun' })),
    ...(await mappedPackages({ entrypoints: [join(projectFolder, 'src/page/main.tsx')], target: 'browser' })),
  ]
  const found = await Promise.all([...new Set(folders)].map(nameAndVersion))
  expect(found.length).toBeGreaterThan(10)
  const listed = thirdParty.components.filter(({ kind }) => kind === 'package')
  expect(listed.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual(found.toSorted())
})

test('every package has the whole text of its licence', () => {
  for (const { name, kind, license, texts } of thirdParty.components) {
    if (kind === 'runtime') continue
    const text = texts.map((key) => thirdParty.texts[key]).join('\n')
    const words = {
      MIT: 'Permission is hereby granted',
      'Apache-2.0': 'END OF TERMS AND CONDITIONS',
      ISC: 'Permission to use, copy, modify',
    }
    expect([name, text]).toEqual([
      name,
      expect.stringContaining(words[license as keyof typeof words] ?? 'Redistribution and use'),
    ])
  }
})

test('the runtime, its engine, its database and its libraries are listed, the engine with the text of the LGPL', () => {
  const names = thirdParty.components.filter(({ kind }) => kind === 'runtime').map(({ name }) => name)
  for (const name of [
    'Bun',
    'JavaScriptCore and WebKit',
    'sqlite (on Linux and Windows)',
    'uSockets',
    'tinycc',
  ])
    expect(names).toContain(name)
  const engine = thirdParty.components.find(({ name }) => name.startsWith('JavaScriptCore'))
  expect(thirdParty.texts[engine?.texts[0] ?? '']).toContain('GNU LIBRARY GENERAL PUBLIC LICENSE')
})

test('the tables of a licence page are read without headings, links and addresses of registries', () => {
  const page = [
    '| Library | License |',
    '| ------- | ------- |',
    '| [`one`](https://one.example/) 7 | [Apache 2.0](https://one.example/license) licensed |',
    '| [`two`](https://npm.example/two) | MIT (parts are BSD 2-Clause) |',
  ].join('\n')
  expect(parseLicensePage(page)).toMatchObject([
    { name: 'one 7', license: 'Apache-2.0', url: 'https://one.example/' },
    { name: 'two', license: 'MIT (parts are BSD 2-Clause)', url: null },
  ])
})

test.each([
  ['declares no licence', {}, /The package left 1\.0\.0 declares no licence\./],
  [
    'has a licence whose text is unknown',
    { license: 'EUPL-1.2' },
    /has no licence text, and EUPL-1\.2 is not on file\./,
  ],
])('a package that %s cannot be released', async (_, fields, message) => {
  const folder = temporaryFolder()
  await Bun.write(join(folder, 'package.json'), JSON.stringify({ name: 'left', version: '1.0.0', ...fields }))
  await expect(packageLicense(folder)).rejects.toThrow(message)
})

test('a package keeps its notice beside its licence, and its repository as an address', async () => {
  const folder = temporaryFolder()
  const manifest = { name: 'left', version: '1.0.0', license: '(MIT OR ISC)', repository: 'acme/left' }
  await Bun.write(join(folder, 'package.json'), JSON.stringify(manifest))
  await Bun.write(join(folder, 'NOTICE'), 'Made by Acme.')
  await Bun.write(join(folder, 'license.md'), 'Do as you like.')
  expect(await packageLicense(folder)).toMatchObject({
    license: 'MIT OR ISC',
    url: 'https://github.com/acme/left',
    texts: ['Made by Acme.', 'Do as you like.'],
  })
})

/** The folders of the packages in a source map. */
async function mappedPackages(input: Pick<Bun.BuildConfig, 'entrypoints' | 'target'>): Promise<string[]> {
  const outdir = temporaryFolder()
  const built = await Bun.build({ ...input, external, outdir, sourcemap: 'external' } as Bun.BuildConfig)
  const map = built.outputs.find(({ kind }) => kind === 'sourcemap')
  if (map === undefined) throw new Error('The bundler wrote no source map.')
  const { sources }: { sources: string[] } = await map.json()
  return sources.flatMap((source) => packageFolder(resolve(dirname(map.path), source)) ?? [])
}

async function nameAndVersion(folder: string): Promise<string> {
  const { name, version } = await Bun.file(join(folder, 'package.json')).json()
  return `${name} ${version}`
}
