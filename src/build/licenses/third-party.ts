import { catalog } from '../../config/catalog.ts'
import type { Component, ThirdParty } from '../../cli/licenses/third-party.ts'
import { bundledPackages } from './bundled-packages.ts'
import { packageLicense } from './package-license.ts'
import { runtimeLicenses } from './runtime-licenses.ts'

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
