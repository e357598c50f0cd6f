import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { command as connect } from '../../src/cli/commands/connect.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'
import { loadSettings } from '../../src/config/load.ts'
import { weirCommand } from '../support/weir-command.ts'
import { storageFixture } from './support/storage-fixture.ts'

/** A folder with this settings file, if there is one, and the command in it. */
function startConnect(text?: string) {
  // An Ollama of the developer is not to be found, and the port is closed.
  const fixture = storageFixture({ OLLAMA_HOST: 'elsewhere.test' })
  const folder = join(fixture.data, '..')
  const file = join(folder, 'weir.yaml')
  if (text !== undefined) writeFileSync(file, text)
  const run = async (...args: string[]) => {
    const { code, out, err } = await fixture.say(connect, ...args, '--port', '1', '--json')
    return { code, err, ...(code === 0 && JSON.parse(out)) }
  }
  const settings = () => loadSettings({ flags: {}, environment: {}, cwd: folder, home: folder }).settings
  return { file, run, settings, read: () => readFileSync(file, 'utf8') }
}

const added = 'compatibility: { function_tools: true }'

test('weir connect codex says what the settings lack, and adds it with --apply', async () => {
  const text =
    '# our gateway\nport: 9000 # behind Caddy\ncompatibility:\n  # the spec by the letter\n  open_responses: true\n'
  const { file, run, settings, read } = startConnect(text)
  const before = await run('codex')
  expect(before.missing_settings).toEqual([added])
  expect(before.notes[0]).toBe(
    `The file ${file} lacks what Codex CLI needs: ${added}. To add it, use --apply.`,
  )
  expect(read()).toBe(text)
  const applied = await run('codex', '--apply')
  expect(applied).toMatchObject({ code: 0, missing_settings: [] })
  expect(applied.notes[0]).toStartWith(`Added to ${file}: ${added}. A running server reads it on SIGHUP`)
  expect(read()).toBe(`${text}  function_tools: true\n`)
  expect(settings().compatibility).toMatchObject({ openResponses: true, functionTools: true })
  expect((await run('codex', '--apply')).notes[0]).toStartWith('The settings of Weir have everything')
  expect((await run('codex')).notes.join()).not.toContain('--apply')
  expect(read()).toBe(`${text}  function_tools: true\n`)
})

test.each([
  ['no file', undefined, 'compatibility:\n  function_tools: true\n'],
  [
    'another section',
    "port: 9000 # it's\ncors: [ 'https://a.example']",
    "port: 9000 # it's\ncors: [ 'https://a.example']\ncompatibility:\n  function_tools: true\n",
  ],
  ['a mapping in braces', '{ port: 9000 }\n', undefined],
  [
    'a flow',
    "compatibility: { function_tools: false } # 'off'\n",
    "compatibility: { function_tools: true } # 'off'\n",
  ],
  [
    'Windows line ends',
    '# a\r\nport: 9000\r\n',
    '# a\r\nport: 9000\r\ncompatibility:\r\n  function_tools: true\r\n',
  ],
  ['an environment variable', 'host: "$${NAME}"\ncors: [ "https://a.example" ]\n', undefined],
])('--apply edits a settings file with %s', async (_, text, expected) => {
  const { run, settings, read } = startConnect(text)
  expect(await run('codex', '--apply')).toMatchObject({ code: 0, err: '' })
  expect(settings().compatibility.functionTools).toBe(true)
  if (expected !== undefined) expect(read()).toBe(expected)
})

test('--apply does not touch a settings file that is not valid, or the settings of another machine', async () => {
  const { run, read } = startConnect('prot: 9000\n')
  expect(await run('codex', '--apply')).toMatchObject({ code: 1, err: expect.stringContaining('prot') })
  expect(read()).toBe('prot: 9000\n')
  const valid = startConnect('port: 9000\n')
  const remote = ['--url', 'https://weir.example.com']
  expect(await valid.run('codex', ...remote, '--apply')).toMatchObject({ code: 2 })
  expect(valid.read()).toBe('port: 9000\n')
  expect((await valid.run('codex', ...remote)).notes[0]).toBe(
    `Codex CLI needs this in the settings of the gateway: ${added}`,
  )
})

test('a settings file that cannot be written is an error without the words of the system', async () => {
  const { file, run } = startConnect()
  mkdirSync(join(file, '..', 'folder.yaml'))
  const { code, err } = await run('codex', '--apply', '--config', 'folder.yaml')
  expect(code).toBe(1)
  expect(err).toContain('folder.yaml')
  expect(err).not.toMatch(/EISDIR|illegal operation/)
})

test('--apply replaces the settings file at once, with the same mode and owner', async () => {
  const { file, run, read } = startConnect('port: 9000\n')
  chmodSync(file, 0o640)
  if (process.getuid?.() === 0) chownSync(file, 12, 34)
  const before = statSync(file)
  linkSync(file, `${file}.before`)
  expect(await run('codex', '--apply')).toMatchObject({ code: 0, err: '' })
  expect(read()).toContain('function_tools: true')
  expect(readFileSync(`${file}.before`, 'utf8')).toBe('port: 9000\n')
  const { mode, uid, gid } = statSync(file)
  expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid })
  expect(readdirSync(join(file, '..')).toSorted()).toEqual(['weir.yaml', 'weir.yaml.before'])
})

test.each([
  ['exists', 'port: 9000\n'],
  ['is missing', undefined],
])('--apply follows a symbolic link to a settings file that %s', async (_, text) => {
  const { file, run, read } = startConnect(text)
  const folder = join(file, '..', 'dotfiles')
  mkdirSync(folder)
  if (text !== undefined) renameSync(file, join(folder, 'own.yaml'))
  symlinkSync('dotfiles/own.yaml', file)
  expect(await run('codex', '--apply')).toMatchObject({ code: 0, err: '' })
  expect(lstatSync(file).isSymbolicLink()).toBe(true)
  expect(readlinkSync(file)).toBe('dotfiles/own.yaml')
  expect(read()).toBe(`${text ?? ''}compatibility:\n  function_tools: true\n`)
  expect(readdirSync(folder)).toEqual(['own.yaml'])
})

test('a disk that is full leaves the settings file as it was', async () => {
  const text = `port: 9000\n${'# a comment\n'.repeat(2000)}`
  const { file, read } = startConnect(text)
  const folder = join(file, '..')
  // No file may become larger than 8 kB, and such a write fails.
  const limited = `trap '' XFSZ; ulimit -f 8; exec "$@"`
  const child = Bun.spawn(
    ['bash', '-c', limited, 'bash', ...weirCommand, 'connect', 'codex', '--apply', '--port', '1'],
    { cwd: folder, env: { HOME: folder, OLLAMA_HOST: 'elsewhere.test' }, stdout: 'ignore', stderr: 'pipe' },
  )
  const [err, code] = await Promise.all([child.stderr.text(), child.exited])
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringContaining(`The file ${file} cannot be changed: `),
  })
  expect(read()).toBe(text)
  expect(readdirSync(folder).filter((name) => name.startsWith('weir'))).toEqual(['weir.yaml'])
})

describe.skipIf(process.getuid?.() === 0)('for an account with few permissions', () => {
  test('--apply does not replace a settings file that may not be written', async () => {
    const { file, run, read } = startConnect('port: 9000\n')
    chmodSync(file, 0o440)
    const { code, err } = await run('codex', '--apply')
    expect({ code, err }).toEqual({
      code: 1,
      err: `The file ${file} cannot be changed: permission denied.`,
    })
    expect(read()).toBe('port: 9000\n')
  })

  test('--apply edits a settings file in a folder that may not be changed', async () => {
    const { file, run, read } = startConnect('port: 9000\n')
    chmodSync(join(file, '..'), 0o550)
    const applied = await run('codex', '--apply')
    chmodSync(join(file, '..'), 0o750)
    expect(applied).toMatchObject({ code: 0, err: '' })
    expect(read()).toBe('port: 9000\ncompatibility:\n  function_tools: true\n')
  })
})

function toolNamed(wanted: string) {
  return connectTools.find(({ name }) => name === wanted)!
}

test.each([
  { ...toolNamed('claude-code'), least: '32,000' },
  { ...toolNamed('codex'), least: '16,000' },
])('the settings of $name name what its model lacks', ({ settings, title, least }) => {
  const model = {
    slug: 'box/small',
    displayName: 'Small',
    tools: false,
    images: false,
    schemas: false,
    contextWindow: 4096,
  }
  const input = { origin: 'http://127.0.0.1:9347', model, models: [model] }
  const { notes } = settings(input)
  expect(notes).toContainEqual(
    expect.stringMatching(/^The model box\/small cannot call tools, which .* needs\.$/),
  )
  expect(notes).toContainEqual(
    expect.stringContaining(
      `box/small has 4,096 tokens, which are too few: ${title.replace(' CLI', '')} needs at least ${least}. Start llama-server with a larger --ctx-size`,
    ),
  )
  const able = { ...model, tools: true, contextWindow: 200_000 }
  expect(settings({ ...input, model: able }).notes.join()).not.toMatch(/cannot call|too few/)
})
