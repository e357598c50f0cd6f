import { expect, test } from 'bun:test'
import { Database as Sqlite } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type Outcome, runWeir } from '../../cli/support/run-weir.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { UsageError } from '../../../src/cli/errors.ts'
import { parseDrain } from '../../../src/cli/serve/shutdown.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { projectFolder } from '../../support/source.ts'
import { startWeir } from './support/weir-process.ts'

function serve(folder: string, ...flags: string[]): Promise<Outcome> {
  return runWeir(['serve', '--port', '0', ...flags], folder, { WEIR_DATA: join(folder, 'data') })
}

/** An empty database in the data folder; returns its file. */
function createDatabase(folder: string): string {
  const file = join(folder, 'data/weir.db')
  mkdirSync(join(folder, 'data'))
  openDatabase(file, silentLog).close()
  return file
}

const tls = (name: string) => join(projectFolder, `test/fixtures/tls/${name}.pem`)

/** One line on standard error, and the exit code of a failure. */
function expectOneLine({ code, out, err }: Outcome, line: RegExp): void {
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^[^\n]+\n$/)
  expect(err).toMatch(line)
  expect(err).not.toMatch(/Unexpected error|SQLITE|\bat\b.*\.ts/)
}

test('a port in use ends the start before it creates a database, whose first key would be lost', async () => {
  const folder = temporaryFolder()
  using other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = String(other.port)
  expectOneLine(
    await serve(folder, '--port', port),
    new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: .*in use`),
  )
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

test('an invalid WEIR_BOOTSTRAP_KEY ends the start before it creates the data folder', async () => {
  const folder = temporaryFolder()
  const environment = { WEIR_DATA: join(folder, 'data'), WEIR_BOOTSTRAP_KEY: 'hunter2' }
  const outcome = await runWeir(['serve', '--port', '0'], folder, environment)
  expectOneLine(outcome, /^WEIR_BOOTSTRAP_KEY is not a valid API key\. The format is /)
  expect(outcome.err).not.toContain('hunter2')
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'))

test('a second weir with its own data does not share the port of one that serves on 127.0.0.1, on any host', async () => {
  const folder = temporaryFolder()
  await using first = await startWeir({ settings: {}, folder })
  const { port } = new URL(first.url)
  const hosts = ['127.0.0.1', '0.0.0.0', ...(hasIpv6 ? ['::'] : [])]
  const seconds = await Promise.all(hosts.map((host) => serve(folder, '--host', host, '--port', port)))
  for (const second of seconds)
    expectOneLine(
      second,
      new RegExp(
        `^Cannot listen on .*: port ${port} is already in use, .* choose another port with --port\\.$`,
        'm',
      ),
    )
  expect(existsSync(join(folder, 'data'))).toBe(false)
  expect((await first.fetch('/livez')).status).toBe(200)
})

test.each(['203.0.113.7', 'no such host'])(
  'a start on the address %s, which this machine does not have, ends with an error',
  async (host) => {
    const folder = temporaryFolder()
    expectOneLine(
      await serve(folder, '--host', host),
      new RegExp(
        `^Cannot listen on ${host}:0: ${host} is not .* of this machine\\. Choose another host with --host`,
      ),
    )
    expect(existsSync(join(folder, 'data'))).toBe(false)
  },
)

test('a start with a file that is not a database ends with an error', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'data/weir.db'), 'a letter to a friend, of some length. '.repeat(40))
  expectOneLine(
    await serve(folder),
    /^The database .*weir\.db cannot be opened: it is damaged, or not a database of SQLite\.$/m,
  )
})

test('a start with a corrupt database ends with an error', async () => {
  const folder = temporaryFolder()
  const file = createDatabase(folder)
  const bytes = await Bun.file(file).bytes()
  bytes.fill(7, 4096)
  writeFileSync(file, bytes)
  expectOneLine(await serve(folder), /^The database .*weir\.db cannot be opened: it is damaged\.$/m)
})

test('a start with a database that another process locks ends with an error', async () => {
  const folder = temporaryFolder()
  using other = new Sqlite(createDatabase(folder))
  other.run('BEGIN IMMEDIATE')
  expectOneLine(await serve(folder), /^The database is locked by another process\.$/m)
})

test('a start with a file as its data folder ends with an error', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'data'), '')
  expectOneLine(await serve(folder), /^The data folder .*data cannot be used: .*data is not a folder\./)
})

test.each([
  ['a setting that does not exist', 'prot: 1', /prot: unknown setting. Did you mean port\?/],
  ['what is no YAML', 'providers: [', /weir\.yaml/],
  ['a variable that is not set', 'providers: { openai: { api_key: "${NOWHERE}" } }', /NOWHERE/],
  [
    'a key that is not there',
    `tls: { cert: ${tls('certificate')}, key: k.pem }`,
    /^In .*weir\.yaml:1:\d+: tls\.key: \S*k\.pem cannot be read: the file does not exist\.$/m,
  ],
  [
    'a certificate that is none',
    `tls: { cert: ${tls('key')}, key: ${tls('key')} }`,
    /tls\.cert: \S*key\.pem does not contain a certificate in PEM format\.$/m,
  ],
])('a start with a weir.yaml with %s ends with an error', async (_, yaml, line) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'weir.yaml'), yaml)
  expectOneLine(await serve(folder), line)
  expect(readdirSync(folder).filter((name) => name === 'data')).toEqual([])
})

test('--drain soon is rejected as wrong usage', async () => {
  const { code, err } = await serve(temporaryFolder(), '--drain=soon')
  expect([code, err.startsWith('--drain must be a duration of at most 24h')]).toEqual([2, true])
})

test.each(['soon', '5', '25h', '-1s'])('%s is no duration of --drain', (drain) => {
  expect(() => parseDrain(drain)).toThrow(UsageError)
  expect(() => parseDrain(drain)).toThrow('--drain must be a duration of at most 24h')
})
