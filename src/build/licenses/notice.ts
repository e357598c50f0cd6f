import { type Component, licenseText, type ThirdParty } from '../../cli/licenses/third-party.ts'

/** Formats the NOTICE file: what the executable contains, with licences and copyright lines. */
export function formatNotice(thirdParty: ThirdParty): string {
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
