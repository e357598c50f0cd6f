import manifest from '../../../package.json'
import type { Component } from '../../cli/licenses/third-party.ts'
import { type Bom, type BomComponent, type BomDependency, bomLicense, npmPurl } from './cyclonedx.ts'
import type { PackageFacts } from './package-facts.ts'

/** What a bill of materials is made of. */
export type SbomInput = {
  readonly components: readonly Component[]
  /** The facts of npm packages, by `name@version`. */
  readonly packages: ReadonlyMap<string, PackageFacts>
  readonly timestamp: Date
}

/** Creates the software bill of materials of the executable; the same components give the same serial number. */
export function createSbom({ components, packages, timestamp }: SbomInput): Bom {
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

const weir: BomComponent = {
  type: 'application',
  'bom-ref': weirRef,
  name: 'weir',
  version: manifest.version,
  licenses: [bomLicense(manifest.license)],
  externalReferences: [{ type: 'website', url: manifest.homepage }],
}

function describeComponent(component: Component, packages: SbomInput['packages']): BomComponent {
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

function typeOf({ name, kind }: Component): BomComponent['type'] {
  if (kind === 'data') return 'data'
  return name === 'Bun' ? 'platform' : 'library'
}

function refOf({ name, version, kind }: Component): string {
  if (kind === 'package') return npmPurl(name, version ?? '')
  return version === null ? `${kind}:${name}` : `${kind}:${name}@${version}`
}

/** Weir depends on its packages, its data and Bun; packages on packages; Bun on what it links. */
function dependencyGraph(
  components: readonly Component[],
  packages: SbomInput['packages'],
): readonly BomDependency[] {
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
