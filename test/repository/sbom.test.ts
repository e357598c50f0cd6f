import { expect, test } from 'bun:test'
import manifest from '../../package.json'
import { join } from 'node:path'
import { bundle } from '../../src/build/compile.ts'
import { bundledPackages } from '../../src/build/licenses/third-party.ts'
import { bomLicense, createSbom, packageFacts } from '../../src/build/sbom.ts'
import { thirdParty } from '../../src/cli/commands/licenses.ts'
import { projectFolder } from '../support/source.ts'

const { components } = thirdParty
const folders = bundledPackages(await bundle(join(projectFolder, 'src/main.ts')))
const packages = await packageFacts(folders)
const timestamp = new Date('2026-11-22T12:00:00Z')
const sbom = createSbom({ components, packages, timestamp })

test('the bill of materials is a CycloneDX document about this version', () => {
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
  expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/)
  expect(sbom.metadata.timestamp).toBe('2026-11-22T12:00:00.000Z')
  expect(sbom.metadata.component).toMatchObject({ name: 'weir', version: manifest.version })
})

test('every package of the bundle is in the bill of materials, with its version, licence and hash', () => {
  const listed = sbom.components.filter(({ purl }) => purl !== undefined)
  expect(listed).toHaveLength(folders.length)
  for (const component of listed) {
    expect(component.purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+\S*$/)
    expect(component.version).toMatch(/^\d/)
    expect(component.hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }])
    expect(component.licenses).toEqual([{ license: { id: expect.any(String) } }])
  }
})

test('references are unique, and every component can be reached from weir', () => {
  const refs = sbom.components.map((component) => component['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  const edges = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const reached = new Set<string>()
  const follow = (ref: string) => {
    if (reached.has(ref)) return
    reached.add(ref)
    for (const next of edges.get(ref) ?? []) follow(next)
  }
  follow(sbom.metadata.component['bom-ref'])
  expect(refs.filter((ref) => !reached.has(ref))).toEqual([])
})

test('the same components have the same serial number, and others have another one', () => {
  const later = createSbom({ components, packages, timestamp: new Date('2027-01-01T00:00:00Z') })
  expect(later.serialNumber).toBe(sbom.serialNumber)
  const fewer = createSbom({ components: components.slice(1), packages, timestamp })
  expect(fewer.serialNumber).not.toBe(sbom.serialNumber)
})

test.each([
  ['MIT', { license: { id: 'MIT' } }],
  ['MIT OR ISC', { expression: 'MIT OR ISC' }],
  ['several licenses', { license: { name: 'several licenses' } }],
  ['BSD 3-Clause / IJG / zlib', { license: { name: 'BSD 3-Clause / IJG / zlib' } }],
])('the licence “%s” has the form that fits it', (license, expected) => {
  expect(bomLicense(license)).toEqual(expected)
})
