import { join } from 'node:path'
import manifest from '../../package.json'
import type { Component } from '../cli/commands/licenses.ts'
import { projectFolder } from './install.ts'

/** The sources of a bill of materials. */
type SbomInput = {
  readonly components: readonly Component[]
  /** The facts of npm packages, by `name@version`. */
  readonly packages: ReadonlyMap<string, PackageFacts>
  readonly timestamp: Date
}

/** Creates the CycloneDX bill of materials of the executable; the same components give the same serial number. */
export function createSbom({ components, packages, timestamp }: SbomInput) {
  const described = components.map((component) => describeComponent(component, packages))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${contentId([manifest.version, described])}`,
    version: 1,
    metadata: {
      timestamp: timestamp.toISOString(),
      tools: { components: [{ type: 'application', 'bom-ref': 'build', name: 'weir-build' }] },
      component: weir,
    },
    components: described,
    dependencies: dependencyGraph(components, packages),
  }
}

const weirRef = `weir@${manifest.version}`

const weir = {
  type: 'application',
  'bom-ref': weirRef,
  name: 'weir',
  version: manifest.version,
  licenses: [bomLicense(manifest.license)],
  externalReferences: [{ type: 'website', url: manifest.homepage }],
}

function describeComponent(component: Component, packages: SbomInput['packages']) {
  const { name, version, kind, license, url } = component
  const [, group, bareName = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
  const sha512 = packages.get(`${name}@${version}`)?.sha512
  return {
    type: typeOf(component),
    'bom-ref': refOf(component),
    ...(group !== undefined && { group }),
    name: bareName,
    ...(version !== null && { version }),
    ...(sha512 !== undefined && { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    licenses: [bomLicense(license)],
    ...(kind === 'package' && { purl: refOf(component) }),
    ...(url !== null && { externalReferences: [{ type: 'website', url }] }),
  }
}

function typeOf({ name, kind }: Component): 'library' | 'platform' | 'data' {
  if (kind === 'data') return 'data'
  return name === 'Bun' ? 'platform' : 'library'
}

function refOf({ name, version, kind }: Component): string {
  if (kind === 'package') return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
  return version === null ? `${kind}:${name}` : `${kind}:${name}@${version}`
}

/** Weir depends on its packages, its data and Bun; packages on packages; Bun on what it links. */
function dependencyGraph(components: readonly Component[], packages: SbomInput['packages']) {
  const refsOf = (names: readonly string[]) =>
    components.filter(({ name, kind }) => kind === 'package' && names.includes(name)).map(refOf)
  const runtime = components.filter(({ kind }) => kind === 'runtime')
  const platform = runtime.filter((component) => typeOf(component) === 'platform').map(refOf)
  const linked = runtime.filter((component) => typeOf(component) !== 'platform').map(refOf)
  const data = components.filter(({ kind }) => kind === 'data').map(refOf)
  return [
    { ref: weirRef, dependsOn: [...refsOf(Object.keys(manifest.dependencies)), ...data, ...platform] },
    ...components.map((component) => {
      const ref = refOf(component)
      if (platform.includes(ref)) return { ref, dependsOn: linked }
      const dependencies = packages.get(`${component.name}@${component.version}`)?.dependencies ?? []
      return { ref, dependsOn: component.kind === 'package' ? refsOf(dependencies) : [] }
    }),
  ]
}

/** Returns a UUID, version 8, made from the content. */
function contentId(content: unknown): string {
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(content)).digest('hex')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** A licence: an SPDX identifier, an SPDX expression, or a name where SPDX has none. */
type BomLicense =
  { readonly license: { readonly id: string } | { readonly name: string } } | { readonly expression: string }

/** Returns the licence in the form that fits it. */
export function bomLicense(license: string): BomLicense {
  if (/^[\w.+-]+$/.test(license)) return { license: { id: license } }
  return /^[\w.+() -]+$/.test(license) && / (OR|AND|WITH) /.test(license)
    ? { expression: license }
    : { license: { name: license } }
}

/** The entry of an npm package in a bill of materials, without its licence. */
type PackageFacts = {
  /** The hash of its archive, in hexadecimal digits. */
  readonly sha512?: string
  /** The names of the packages that it depends on, optional and peer ones too. */
  readonly dependencies: readonly string[]
}

/** Returns the facts of installed packages, by `name@version`; the hashes are those of the lock file. */
export async function packageFacts(folders: readonly string[]): Promise<ReadonlyMap<string, PackageFacts>> {
  const hashes = await lockedHashes()
  const entries = folders.map(async (folder) => {
    const manifest = await Bun.file(join(folder, 'package.json')).json()
    const { name, version, dependencies, optionalDependencies, peerDependencies } = manifest
    const id = `${name}@${version}`
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    return [id, { sha512: hashes.get(id), dependencies: names.toSorted() }] as const
  })
  return new Map(await Promise.all(entries))
}

async function lockedHashes(): Promise<ReadonlyMap<string, string>> {
  const text = await Bun.file(join(projectFolder, 'bun.lock')).text()
  // Each package is a list that begins with `name@version` and ends with the hash of its archive.
  const { packages } = Bun.JSONC.parse(text) as { packages: Record<string, unknown[]> }
  const hashes = new Map<string, string>()
  for (const entry of Object.values(packages)) {
    const integrity = String(entry.at(-1))
    if (!integrity.startsWith('sha512-')) continue
    hashes.set(String(entry[0]), Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'))
  }
  return hashes
}
