import manifest from '../../../package.json'
import data from '../third-party.json'
import { suggestion } from '../../lib/near-match.ts'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import { CommandError } from '../errors.ts'
import { table } from '../output.ts'

const usage = `Usage
  weir licenses [NAME] [--json]

Prints the licence of Weir, every third-party component of the executable with its licence, and
the texts of these licences. With NAME, only that component.

Examples
  weir licenses
  weir licenses elysia
  weir licenses --json

${commonFlagsHelp}`

/** `weir licenses`. */
export const command: Command = {
  usage,
  run: subcommand('licenses', { operands: ['NAME?'] }, ({ operands: [name], print }) => {
    const components = name === undefined ? thirdParty.components : findComponents(name)
    print(components.map(toJson), name === undefined ? fullReport() : componentReport(components))
  }),
}

/** Several components may have one name in different versions. */
function findComponents(name: string): readonly Component[] {
  const wanted = name.toLowerCase()
  const found = thirdParty.components.filter((component) => component.name.toLowerCase() === wanted)
  if (found.length > 0) return found
  const names = thirdParty.components.map((component) => component.name)
  const guess = suggestion(name, names, 'See weir licenses.')
  throw new CommandError(`The executable contains no component “${name}”. ${guess}`)
}

function toJson(component: Component) {
  const { name, version, kind, license, url } = component
  return { name, version, kind, license, url, text: licenseText(component) }
}

function fullReport(): string {
  const head = `Weir ${manifest.version}, ${manifest.license}. Copyright 2026 the Weir authors.`
  const texts = Object.entries(thirdParty.texts).map(([key, text]) => {
    const users = thirdParty.components.filter((component) => component.texts.includes(key))
    return `${rule}\n${users.map(({ name }) => name).join(', ')}\n${rule}\n\n${text}`
  })
  return [head, 'The executable contains these components:', componentTable(), ...texts].join('\n\n')
}

const rule = '─'.repeat(78)

function componentTable(): string {
  return table(thirdParty.components, [
    { title: 'COMPONENT', value: ({ name }) => name },
    { title: 'VERSION', value: ({ version }) => version ?? '-' },
    { title: 'LICENCE', value: ({ license }) => license },
  ])
}

function componentReport(components: readonly Component[]): string {
  const reports = components.map((component) => {
    const { name, version, license, url } = component
    const title = [name, version].filter((part) => part !== null).join(' ')
    const lines = [`${title}, ${license}`, ...(url === null ? [] : [url])]
    return `${lines.join('\n')}\n\n${licenseText(component) ?? 'The text is at the address above.'}`
  })
  return reports.join('\n\n')
}

/** A third-party component of the executable, with its licence. */
export type Component = {
  readonly name: string
  /** Null where the authors of the runtime do not name one. */
  readonly version: string | null
  /** An npm package of the bundle, a part of the runtime, or data. */
  readonly kind: 'package' | 'runtime' | 'data'
  /** An SPDX expression, or the words of the authors of the runtime where they do not use one. */
  readonly license: string
  /** The home page or the repository. */
  readonly url: string | null
  /** The keys of the licence texts; empty where only the address is known. */
  readonly texts: readonly string[]
}

/** The third-party components of the executable; components with the same licence text share it. */
export type ThirdParty = {
  readonly components: readonly Component[]
  readonly texts: Readonly<Record<string, string>>
}

// The script that writes the file derives it from the bundle, and a test compares the two.
const thirdPartyData: unknown = data
/** The third-party components of this release. */
export const thirdParty = thirdPartyData as ThirdParty

/** Returns the whole licence text of a component, or null if only its address is known. */
export function licenseText({ texts }: Component, all: ThirdParty = thirdParty): string | null {
  const found = texts.flatMap((key) => all.texts[key] ?? [])
  return found.length === 0 ? null : found.join('\n\n')
}
