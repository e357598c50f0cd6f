import { join } from 'node:path'
import manifest from '../../../package.json'
import type { Component } from '../../cli/commands/licenses.ts'
import { projectFolder } from '../install.ts'

/** Returns Bun, its JavaScript engine and the libraries that it links, as the licence document of Bun lists them. */
export async function runtimeLicenses(): Promise<Component[]> {
  const types = join(projectFolder, 'node_modules/bun-types')
  const { version } = await Bun.file(join(types, 'package.json')).json()
  if (manifest.packageManager !== `bun@${version}`)
    throw new Error(`The licences are those of Bun ${version}, but Weir uses ${manifest.packageManager}.`)
  const page = await Bun.file(join(types, 'docs/project/license.mdx')).text()
  const listed = parseLicensePage(page)
  if (listed.length < 20) throw new Error('The licence document of Bun has another format.')
  return Promise.all([bun(version), engine, ...listed].map(withText))
}

function bun(version: string): Component {
  const url = 'https://github.com/oven-sh/bun'
  return { name: 'Bun', version, kind: 'runtime', license: 'MIT', url, texts: [] }
}

/** Described in the text of the document, not in a table. */
const engine: Component = {
  name: 'JavaScriptCore and WebKit',
  version: null,
  kind: 'runtime',
  license: 'LGPL-2.0-or-later',
  url: 'https://github.com/oven-sh/WebKit',
  texts: [],
}

/** Returns the rows of the tables of Bun's licence document. */
export function parseLicensePage(page: string): Component[] {
  return [...page.matchAll(/^\| (?!-|Library|Package)(.+?) +\| (.+?) +\|$/gm)].map(
    ([, left = '', right = '']) => {
      const url = /\]\((https:[^)]+)\)/.exec(left)?.[1] ?? null
      const name = withoutMarkup(left)
      // The address of a package at a registry says nothing that its name does not.
      const isRegistry = url?.includes('//npm') === true
      return {
        name,
        version: null,
        kind: 'runtime',
        license: toSpdx(withoutMarkup(right)),
        url: isRegistry ? null : url,
        texts: [],
      }
    },
  )
}

function withoutMarkup(cell: string): string {
  return cell
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('’', "'")
    .trim()
}

const spdx: Readonly<Record<string, string>> = {
  'Apache 2.0': 'Apache-2.0',
  'BSD 2-Clause': 'BSD-2-Clause',
  'BSD 3-Clause': 'BSD-3-Clause',
  'LGPL v2.1': 'LGPL-2.1-only',
  zlib: 'Zlib',
}

function toSpdx(license: string): string {
  const words = license.replace(/ licensed$/, '')
  return spdx[words] ?? words
}

async function withText(component: Component): Promise<Component> {
  // “MIT (portions …)”: the text is that of most of the library.
  const text = await standardText(toSpdx(component.license.replace(/ \(.*/, '')))
  return text === undefined ? component : { ...component, texts: [text] }
}

const files: Readonly<Record<string, string>> = {
  'Apache-2.0': 'LICENSE',
  MIT: standardFile('MIT'),
  'BSD-2-Clause': standardFile('BSD-2-Clause'),
  'BSD-3-Clause': standardFile('BSD-3-Clause'),
  Zlib: standardFile('Zlib'),
  'LGPL-2.0-or-later': standardFile('LGPL-2.0'),
  'LGPL-2.1-only': standardFile('LGPL-2.1'),
}

/** Returns the text of an SPDX licence without the names of authors, or undefined if it is not on file. */
export async function standardText(license: string): Promise<string | undefined> {
  const file = Object.hasOwn(files, license) ? files[license] : undefined
  if (file === undefined) return undefined
  const text = await Bun.file(join(projectFolder, file)).text()
  // The appendix of the Apache licence names the authors of Weir.
  return text.split(/^ +APPENDIX:/m)[0]?.trimEnd()
}

function standardFile(name: string): string {
  return `src/build/licenses/standard-texts/${name}.txt`
}
