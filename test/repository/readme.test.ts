import { expect, test } from 'bun:test'
import { join } from 'node:path'
import manifest from '../../package.json'
import { toSettings } from '../../src/config/defaults.ts'
import { SettingsFile } from '../../src/config/settings.ts'
import { kinds } from '../../src/providers/kinds/kinds.ts'
import { readPage } from '../support/readme.ts'
import { projectFolder, sourceFiles } from '../support/source.ts'

const text = await Bun.file(join(projectFolder, 'README.md')).text()
const { blocks, spans } = readPage(text)
const typed = [...blocks.flat(), ...spans]

test('the first block of the README runs Weir in one command, and the second checks it', () => {
  expect(blocks[0]).toEqual([`npx -y ${manifest.packageManager} start`, 'bun start'])
  expect(blocks[1]).toEqual([`npx -y ${manifest.packageManager} run check`, 'bun run check'])
})

test('every script that the README names exists', () => {
  const named = typed.flatMap((line) => /\bbun(?:@[\d.]+)? (?:run )?([a-z:]+)/.exec(line)?.[1] ?? [])
  expect(named.length).toBeGreaterThan(8)
  const unknown = named.filter((script) => !Object.keys(manifest.scripts).includes(script))
  expect(unknown).toEqual([])
})

const commands = spans.filter((span) => /^weir( |$)/.test(span))
test.each(commands)('the README command “%s” exists with these flags', async (command) => {
  const { words, flags } = partsOf(command.slice('weir'.length))
  const help = await weir(...(words.length > 0 ? words : ['serve']), '--help')
  expect(help.code).toBe(0)
  if (words.length > 1) expect(help.out).toContain(`weir ${words.join(' ')}`)
  for (const flag of flags) expect(help.out).toContain(flag)
})

test('a command that the README does not name is rejected', async () => {
  expect((await weir('flood', '--help')).code).toBe(2)
})

test('the flags behind bun start in the README are those of serve', async () => {
  const flags = typed.filter((line) => line.includes('bun start ')).flatMap((line) => partsOf(line).flags)
  expect(flags).toContain('--port')
  const { out } = await weir('serve', '--help')
  for (const flag of flags) expect(out).toContain(flag)
})

test('the request body in the README is accepted by the built-in model', () => {
  const request = blocks.flat().find((line) => line.startsWith('curl '))
  const body = /-d '(.*)'$/.exec(request ?? '')?.[1] ?? ''
  const defaults = toSettings({}, null)
  expect(request).toContain(`http://${defaults.host}:${defaults.port}/v1/chat/completions`)
  expect(JSON.parse(body)).toMatchObject({ model: 'weir/echo', messages: [{ role: 'user' }] })
})

test('the table of settings in the README names every setting and no other', () => {
  const table = text.slice(text.indexOf('| setting '), text.indexOf('## API'))
  const named = [...table.matchAll(/^\| `([a-z_]+)` +\|/gm)].map((match) => match[1] ?? '')
  expect(named).toEqual(Object.keys(SettingsFile.properties))
})

test('the settings that the README shows are valid', () => {
  const example = /^```yaml\n(.*?)^```$/ms.exec(text)?.[1] ?? ''
  const { providers } = Bun.YAML.parse(example) as { providers: Record<string, { kind?: string }> }
  const used = Object.entries(providers).map(([name, { kind }]) => kind ?? name)
  expect(used.length).toBeGreaterThan(1)
  expect(used.filter((kind) => !(kind in kinds))).toEqual([])
})

test('every variable that the README names is read by the program', async () => {
  const program = (await sourceFiles('src')).filter(({ path }) => !path.startsWith('src/build/'))
  const source = program.map((file) => file.text).join('\n')
  const variables = spans.filter((span) => /^WEIR_[A-Z_]+$/.test(span))
  expect(variables.length).toBeGreaterThan(3)
  expect(variables.filter((name) => !source.includes(name))).toEqual([])
})

/** The words of a command up to the first value in capitals, and its flags. */
function partsOf(command: string): { words: string[]; flags: string[] } {
  const parts = command.trim().split(/\s+/)
  const first = parts.findIndex((part) => !/^[a-z]+$/.test(part))
  const words = first < 0 ? parts : parts.slice(0, first)
  return { words, flags: parts.filter((part) => part.startsWith('--')) }
}

async function weir(...args: string[]): Promise<{ code: number; out: string }> {
  const command = [process.execPath, 'src/main.ts', ...args]
  const running = Bun.spawn(command, {
    cwd: projectFolder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return { out: await running.stdout.text(), code: await running.exited }
}
