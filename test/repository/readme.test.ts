import { expect, test } from 'bun:test'
import manifest from '../../package.json'
import { checkSchema } from '../../src/config/check-schema.ts'
import { toSettings } from '../../src/config/defaults.ts'
import type { SettingsProblem } from '../../src/config/problem.ts'
import { SettingsFile } from '../../src/config/settings.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'
import { kinds } from '../../src/providers/kinds/kinds.ts'
import { callWeir, type Outcome } from '../cli/support/run-weir.ts'
import { projectFolder, sourceFiles } from '../support/source.ts'
import { codeSpans, documentationPages, linksOf, type MarkdownPage } from './support/markdown-page.ts'

const pages = await documentationPages()
const readme = pageAt('README.md')
const shellBlocks = shellBlocksOf(readme)
const commandsAndSpans = pages.flatMap((page) => [...shellBlocksOf(page).flat(), ...codeSpans(page)])

test('the first block of the README runs Weir in one command, and the second checks it', () => {
  expect(shellBlocks[0]).toEqual([`npx -y ${manifest.packageManager} start`, 'bun start'])
  expect(shellBlocks[1]).toEqual([`npx -y ${manifest.packageManager} run check`, 'bun run check'])
})

test('every script that the documentation names exists', () => {
  const named = commandsAndSpans.flatMap(
    (line) => /\bbun(?:@[\d.]+)? (?:run )?([a-z:]+)(?= |$)/.exec(line)?.[1] ?? [],
  )
  expect(named.length).toBeGreaterThan(8)
  // `bun test` runs the tests without a script.
  const known = [...Object.keys(manifest.scripts), 'test']
  expect(named.filter((script) => !known.includes(script))).toEqual([])
})

test('the README and the list of the documentation lead to every page', () => {
  const names = pages.flatMap(({ path }) => (path.startsWith('docs/') ? [path.slice('docs/'.length)] : []))
  const others = names.filter((name) => name !== 'README.md')
  const linked = (path: string) => new Set(linksOf(pageAt(path)).map(({ target }) => target))
  const [fromReadme, fromList] = [linked('README.md'), linked('docs/README.md')]
  expect(others.filter((name) => !fromReadme.has(`docs/${name}`))).toEqual([])
  expect(others.filter((name) => !fromList.has(name))).toEqual([])
})

const tools = connectTools.map(({ name }) => name)
const commands = new Set(pages.flatMap(codeSpans).filter((span) => /^weir( |$)/.test(span)))
test.each([...commands].toSorted())('the command “%s” of the documentation exists', async (command) => {
  const { words, flags } = partsOf(command.slice('weir'.length))
  const help = await helpOf(words.length > 0 ? words : ['serve'])
  expect(help.code).toBe(0)
  // A third word is an operand, such as the name of an organization.
  if (words[0] === 'connect' && words[1] !== undefined) expect(tools).toContain(words[1])
  else if (words.length > 1) expect(help.out).toContain(`weir ${words.slice(0, 2).join(' ')}`)
  for (const flag of flags) expect(help.out).toContain(flag)
})

test('the commands in the blocks of the documentation have the flags that they use', async () => {
  const lines = pages.flatMap((page) => shellBlocksOf(page).flat())
  const used = lines.flatMap((line) => /^(?:[A-Z_]+=\S+ )*weir( [^|<>&;]*|$)/.exec(line)?.[1] ?? [])
  expect(used.length).toBeGreaterThan(8)
  for (const { words, flags } of used.map(partsOf)) {
    const help = await helpOf([words[0] ?? 'serve'])
    expect(help.code).toBe(0)
    for (const flag of flags) expect(help.out).toContain(flag)
  }
})

test('a command that the documentation does not name is rejected', async () => {
  expect((await helpOf(['flood'])).code).toBe(2)
})

test('the flags behind bun start in the documentation are those of serve', async () => {
  const flags = commandsAndSpans
    .filter((line) => line.includes('bun start '))
    .flatMap((line) => partsOf(line).flags)
  expect(flags).toContain('--port')
  const { out } = await helpOf(['serve'])
  for (const flag of flags) expect(out).toContain(flag)
})

test('the request body in the README is accepted by the built-in model', () => {
  const request = shellBlocks.flat().find((line) => line.startsWith('curl '))
  const body = /-d '(.*)'$/.exec(request ?? '')?.[1] ?? ''
  const defaults = toSettings({}, null)
  expect(request).toContain(`http://${defaults.host}:${defaults.port}/v1/chat/completions`)
  expect(JSON.parse(body)).toMatchObject({ model: 'weir/echo', messages: [{ role: 'user' }] })
})

test('the settings that the README and the guides show are valid', () => {
  const guides = ['README.md', 'docs/stored-data.md'].map(pageAt)
  const examples = guides.flatMap(({ fences }) => fences.filter(({ language }) => language === 'yaml'))
  expect(examples.length).toBeGreaterThan(1)
  for (const { text } of examples) {
    const problems: SettingsProblem[] = []
    const settings: unknown = Bun.YAML.parse(text)
    expect(checkSchema(SettingsFile, settings, problems)).toBe(true)
    expect(problems).toEqual([])
  }
})

test('the kinds of providers that the README shows exist', () => {
  const example = readme.fences.find(({ language }) => language === 'yaml')?.text ?? ''
  const { providers } = Bun.YAML.parse(example) as { providers: Record<string, { kind?: string }> }
  const used = Object.entries(providers).map(([name, { kind }]) => kind ?? name)
  expect(used.length).toBeGreaterThan(1)
  expect(used.filter((kind) => !(kind in kinds))).toEqual([])
})

test('the number of kinds of providers in the README is that of the kinds, without the built-in one', () => {
  const [, count] = /\| (\d+) kinds +\|/.exec(readme.text) ?? []
  expect(Number(count)).toBe(Object.keys(kinds).filter((name) => name !== 'echo').length)
})

test('every variable that the documentation names is read by the program', async () => {
  const program = (await sourceFiles('src')).filter(({ path }) => !path.startsWith('src/build/'))
  const source = program.map((file) => file.text).join('\n')
  const variables = pages.flatMap(codeSpans).filter((span) => /^WEIR_[A-Z_]+$/.test(span))
  expect(variables.length).toBeGreaterThan(0)
  expect(variables.filter((name) => !source.includes(name))).toEqual([])
})

function pageAt(path: string): MarkdownPage {
  const page = pages.find((page) => page.path === path)
  if (page === undefined) throw new Error(`There is no ${path}.`)
  return page
}

/** The shell blocks of a page in order, each as whole commands without comments. */
function shellBlocksOf({ fences }: MarkdownPage): string[][] {
  return fences
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => {
      const lines = text.replaceAll('\\\n', ' ').split('\n')
      return lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '')
    })
}

/** The words of a command up to the first value in capitals, and its flags. */
function partsOf(command: string): { words: string[]; flags: string[] } {
  const parts = command.trim().split(/\s+/)
  const first = parts.findIndex((part) => !/^[a-z]+(-[a-z]+)*$/.test(part))
  const words = first < 0 ? parts : parts.slice(0, first)
  const flags = parts.flatMap((part) => /^--[a-z-]+/.exec(part)?.[0] ?? [])
  return { words: words.filter((word) => word !== ''), flags }
}

const helps = new Map<string, Promise<Help>>()
type Help = Pick<Outcome, 'code' | 'out'>

function helpOf(words: readonly string[]): Promise<Help> {
  const key = words.join(' ')
  const help = helps.get(key) ?? callWeir([...words, '--help'], projectFolder)
  helps.set(key, help)
  return help
}
