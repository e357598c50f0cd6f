/** The parts of a CycloneDX document that the build writes. */
export type Bom = {
  readonly $schema: string
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly serialNumber: string
  readonly version: 1
  readonly metadata: {
    readonly timestamp: string
    readonly tools: { readonly components: readonly BomComponent[] }
    readonly component: BomComponent
  }
  readonly components: readonly BomComponent[]
  readonly dependencies: readonly BomDependency[]
}

/** A component of a CycloneDX document. */
export type BomComponent = {
  readonly type: 'application' | 'library' | 'platform' | 'data'
  readonly 'bom-ref': string
  readonly group?: string
  readonly name: string
  readonly version?: string
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[]
  readonly licenses?: readonly BomLicense[]
  readonly purl?: string
  readonly externalReferences?: readonly { readonly type: 'website'; readonly url: string }[]
}

/** A licence: an SPDX identifier, an SPDX expression, or a name where SPDX has none. */
export type BomLicense =
  { readonly license: { readonly id: string } | { readonly name: string } } | { readonly expression: string }

/** What a component directly depends on. */
export type BomDependency = { readonly ref: string; readonly dependsOn: readonly string[] }

/** Returns the licence in the form that fits it. */
export function bomLicense(license: string): BomLicense {
  if (/^[\w.+-]+$/.test(license)) return { license: { id: license } }
  return /^[\w.+() -]+$/.test(license) && / (OR|AND|WITH) /.test(license)
    ? { expression: license }
    : { license: { name: license } }
}

/** Returns the package URL of an npm package. */
export function npmPurl(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
}
