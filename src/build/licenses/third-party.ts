import { join, resolve } from 'node:path'
import { readdir } from 'node:fs/promises'
import { catalog } from '../../config/catalog.ts'
import type { Component, ThirdParty } from '../../cli/commands/licenses.ts'
import { runtimeLicenses, standardText } from './runtime-licenses.ts'

/** Returns the third-party components of a bundle and its runtime, with the texts of their licences. */
export async function collectThirdParty(metafile: Bun.BuildMetafile): Promise<ThirdParty> {
  const packages = await Promise.all(bundledPackages(metafile).map(packageLicense))
  const runtime = await runtimeLicenses()
  return shareTexts([...packages.toSorted(byName), catalogData, ...runtime])
}

function byName(one: Component, other: Component): number {
  return one.name < other.name ? -1 : 1
}

const catalogData: Component = {
  name: 'models.dev',
  version: catalog.snapshot,
  kind: 'data',
  license: 'MIT',
  url: 'https://models.dev',
  texts: [catalog.notice],
}

/** Replaces each text by a key, so that equal texts are stored once. */
function shareTexts(components: readonly Component[]): ThirdParty {
  const texts: Record<string, string> = {}
  const withKeys = components.map((component) => ({
    ...component,
    texts: component.texts.map((text) => {
      const clean = text.replaceAll('\r\n', '\n').trimEnd().replace(/^\n+/, '')
      const key = new Bun.CryptoHasher('sha256').update(clean).digest('hex').slice(0, 12)
      texts[key] = clean
      return key
    }),
  }))
  return { components: withKeys, texts }
}

/** Formats the data with one line a component and a text, so that a diff shows what changed. */
export function formatThirdParty({ components, texts }: ThirdParty): string {
  const rows = components.map((component) => `    ${JSON.stringify(component)}`)
  const textRows = Object.entries(texts).map(([key, text]) => `    "${key}": ${JSON.stringify(text)}`)
  return `{\n  "components": [\n${rows.join(',\n')}\n  ],\n  "texts": {\n${textRows.join(',\n')}\n  }\n}\n`
}

/** Returns the folders of the npm packages whose code is in the bundle, sorted. */
export function bundledPackages(metafile: Bun.BuildMetafile): string[] {
  const folders = new Set<string>()
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const folder = bytesInOutput > 0 ? packageFolder(path) : undefined
      if (folder !== undefined) folders.add(resolve(folder))
    }
  }
  return [...folders].toSorted()
}

/** Returns the folder of the package that a file belongs to; undefined for a file of the project. */
export function packageFolder(path: string): string | undefined {
  // Greedy: a package may have packages of its own.
  return /^.*(?:^|[\\/])node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0]
}

/** The fields of a package.json that say what the package is. */
type Manifest = {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly homepage?: string
  readonly repository?: string | { readonly url?: string }
}

/** Reads the licence of an installed package, with whole texts; throws if the package does not say which one it has. */
export async function packageLicense(folder: string): Promise<Component> {
  const manifest: Manifest = await Bun.file(join(folder, 'package.json')).json()
  const { name, version, license } = manifest
  if (license === undefined) throw new Error(`The package ${name} ${version} declares no licence.`)
  const texts = await licenseFiles(folder)
  const text = texts.length > 0 ? undefined : await standardText(license)
  if (texts.length === 0 && text === undefined)
    throw new Error(`The package ${name} ${version} has no licence text, and ${license} is not on file.`)
  return {
    name,
    version,
    kind: 'package',
    license: license.replace(/^\((.*)\)$/, '$1'),
    url: urlOf(manifest),
    texts: text === undefined ? texts : [text],
  }
}

async function licenseFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)\b/i.test(name))
  return Promise.all(names.toSorted().map((name) => Bun.file(join(folder, name)).text()))
}

function urlOf({ homepage, repository }: Manifest): string | null {
  const source = typeof repository === 'string' ? repository : repository?.url
  if (source === undefined) return homepage ?? null
  if (/^[\w.-]+\/[\w.-]+$/.test(source)) return `https://github.com/${source}`
  return source
    .replace(/^git\+/, '')
    .replace(/^(git|ssh):\/\/(git@)?/, 'https://')
    .replace(/\.git$/, '')
}
