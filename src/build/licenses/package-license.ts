import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Component } from '../../cli/licenses/third-party.ts'
import { standardText } from './standard-text.ts'

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
