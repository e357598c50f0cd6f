import { join } from 'node:path'
import { bundle } from './compile.ts'
import { install, projectFolder } from './install.ts'
import { collectThirdParty, formatThirdParty } from './licenses/third-party.ts'
import { type Component, licenseText, type ThirdParty } from '../cli/commands/licenses.ts'

/** A file that is generated from the components of the bundle. */
type GeneratedFile = { readonly path: string; readonly text: string }

/** Returns what the generated files about licences must contain. */
export function licenseFiles(thirdParty: ThirdParty): readonly GeneratedFile[] {
  return [
    { path: 'src/cli/third-party.json', text: formatThirdParty(thirdParty) },
    { path: 'NOTICE', text: formatNotice(thirdParty) },
  ]
}

/** Throws if a generated file is out of date: an executable must name what it contains. */
export async function assertLicenseFiles(thirdParty: ThirdParty): Promise<void> {
  for (const { path, text } of licenseFiles(thirdParty)) {
    if ((await Bun.file(join(projectFolder, path)).text()) !== text)
      throw new Error(`${path} is out of date: the bundle has other components. Run “bun run licenses”.`)
  }
}

/** Formats the NOTICE file: what the executable contains, with licences and copyright lines. */
function formatNotice(thirdParty: ThirdParty): string {
  const section = (title: string, kind: Component['kind']) => {
    const components = thirdParty.components.filter((component) => component.kind === kind)
    return [title, '', ...components.map((component) => entry(component, thirdParty)), '']
  }
  return [
    introduction,
    ...section('Packages in the bundle', 'package'),
    ...section('Data', 'data'),
    ...section('Bun and the libraries that it links', 'runtime'),
    relinking,
  ].join('\n')
}

const introduction = `Weir
Copyright 2026 the Weir authors

Weir is licensed under the Apache License, Version 2.0; see LICENSE. Its executable contains the
components below under their own licences. “weir licenses” prints the texts of these licences.
This file is written by “bun run licenses”.
`

const relinking = `JavaScriptCore, WebKit and TinyCC are linked statically under the GNU Lesser General Public
License. Anyone may replace them: build Bun with a changed copy, as its licence document describes,
and then Weir with that Bun, from the source of the same version:

    path/to/bun run build
`

function entry(component: Component, all: ThirdParty): string {
  const { name, version, license } = component
  const title = `  ${[name, version].filter((part) => part !== null).join(' ')}: ${license}`
  return [title, ...copyrightLines(component, all).map((line) => `      ${line}`)].join('\n')
}

/** The copyright lines at the head of the text; the text of a licence itself has other lines with the word. */
function copyrightLines(component: Component, all: ThirdParty): string[] {
  if (component.kind === 'runtime') return []
  const lines = licenseText(component, all)?.split('\n') ?? []
  return lines.map((line) => line.trim()).filter((line) => /^copyright (\(c\) |©|\d{4})/i.test(line))
}

/** Writes the files for the bundle of the checkout. */
async function writeLicenses(): Promise<void> {
  if (!(await install())) process.exit(1)
  const thirdParty = await collectThirdParty(await bundle(join(projectFolder, 'src/main.ts')))
  for (const { path, text } of licenseFiles(thirdParty)) {
    await Bun.write(join(projectFolder, path), text)
    console.log(`${path} lists ${thirdParty.components.length} components.`)
  }
}

if (import.meta.main) await writeLicenses()
