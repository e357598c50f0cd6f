import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckReport } from '../../src/cli/check/report.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { projectFolder } from '../support/source.ts'
import { callWeir, type Outcome, runWeir } from './support/run-weir.ts'

const sound = `
providers:
  box: { kind: vllm, base_url: http://gpu.test:8000/v1/, headers: { x-team: canary } }
  groq: {}
models:
  - slug: acme/on
    routes: [{ provider: box, model: m }]
  - slug: acme/keyless
    routes: [{ provider: groq, model: m }]
  - slug: acme/switched-off
    enabled: false
    routes: [{ provider: box, model: m }]
`

test('valid settings end with 0: file, folder, providers with keys, and why named models are disabled', async () => {
  using home = temporaryHome({ 'work/weir.yaml': sound })
  const { code, out, err } = await runWeir(['check'], home.place('work'), { OPENAI_API_KEY: 'sk-canary' })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(`Settings  ${home.place('work/weir.yaml')}\n`)
  expect(out).toContain(`Data      ${home.place('work/.local/share/weir')}\n`)
  expect(out).toContain('No problems.')
  expect(out).toMatch(/^box +vllm +http:\/\/gpu\.test:8000\/v1 +no$/m)
  expect(out).toMatch(/^openai +openai +https:\/\/api\.openai\.com\/v1 +yes$/m)
  expect(out).toMatch(/^groq +groq +- +no +Set GROQ_API_KEY, or api_key of providers\.groq in weir\.yaml\.$/m)
  expect(out).toMatch(/^Models: \d+ enabled, \d+ disabled\.$/m)
  expect(out).toContain('  acme/keyless: Set GROQ_API_KEY, or api_key of providers.groq in weir.yaml.\n')
  expect(out).toMatch(/^ {2}acme\/switched-off: /m)
  expect(out).not.toContain('acme/on')
  expect(out).not.toContain('canary')
})

test('weir check --json prints the same as an object', async () => {
  using home = temporaryHome({ 'work/weir.yaml': sound })
  const report = reportOf(await check(home.place('work'), { OPENAI_API_KEY: 'sk-canary' }, '--json'))
  expect(report).toMatchObject({ ok: true, file: home.place('work/weir.yaml'), problems: [] })
  expect(report.providers).toContainEqual({
    name: 'box',
    kind: 'vllm',
    base_url: 'http://gpu.test:8000/v1',
    key: false,
    missing: null,
  })
  expect(report.models?.without_service.map(({ slug }) => slug)).toEqual([
    'acme/keyless',
    'acme/switched-off',
  ])
  expect(JSON.stringify(report)).not.toContain('canary')
})

test('weir check names the enabled models that end within three months, the first one first', async () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const model = (slug: string, days: number, enabled = true) =>
    `  - { slug: ${slug}, shutdown_date: ${day(days)}, enabled: ${enabled}, routes: [{ provider: box, model: m }] }`
  const models = [
    model('acme/soon', 60),
    model('acme/ended', -1),
    model('acme/later', 120),
    model('acme/off', 1, false),
  ]
  using home = temporaryHome({
    'weir.yaml': `providers:\n  box: { kind: vllm, base_url: http://gpu.test }\nmodels:\n${models.join('\n')}\n`,
  })
  const { out } = await check(home.place(''))
  expect(out).toContain(
    `Models that their providers stop serving\n  ${day(-1)}  acme/ended\n  ${day(60)}  acme/soon\n`,
  )
  expect(out).not.toContain('acme/later')
})

test('weir check names the providers of which no model is enabled, and what to do', async () => {
  const providers = ['used', 'idle', 'asked'].map((name) => {
    const discover = name === 'asked' ? ', discover: true' : ''
    return `  ${name}: { kind: llamacpp, base_url: http://gpu.test${discover} }\n`
  })
  using home = temporaryHome({
    'weir.yaml': `providers:\n${providers.join('')}models:\n  - { slug: acme/one, routes: [{ provider: used, model: m }] }\n`,
  })
  const { out } = await check(home.place(''))
  expect(out).toContain(
    'Providers without models\n  idle: Add “discover: true” to it, or name its models under models.\n',
  )
  const report = reportOf(await check(home.place(''), {}, '--json'))
  expect(report.models?.without_models).toEqual(['idle'])
})

test('problems of providers and models are reported with their paths, and end with 1', async () => {
  using home = temporaryHome({
    'work/weir.yaml': `
providers: { az: { kind: azzure } }
models:
  - slug: acme/new
  - { slug: acme/two, routes: [{ provider: az, model: m }, { provider: nobody, model: m }] }
`,
  })
  const outcome = await check(home.place('work'), {}, '--json')
  const report = reportOf(outcome)
  expect(outcome.code).toBe(1)
  expect(JSON.parse(outcome.err)).toEqual({
    error: { message: '3 problems found.', code: 'check_failed' },
  })
  expect(report.ok).toBe(false)
  const paths = report.problems.map(({ path }) => path)
  expect(paths).toEqual([
    'providers.az.kind',
    expect.stringMatching(/^models\[0\]/),
    'models[1].routes[1].provider',
  ])
})

test('settings that cannot be parsed are reported in the same way', async () => {
  using home = temporaryHome({ 'work/weir.yaml': 'hots: canary\nport: x\n' })
  const { code, out, err } = await check(home.place('work'))
  expect({ code, err }).toEqual({ code: 1, err: '2 problems found.\n' })
  expect(out).toContain('  1:1 hots: unknown setting. Did you mean host?\n')
  expect(out).toContain('  2:1 port: must be a whole number from 0 to 65535')
  expect(out).not.toContain('canary')
  expect(reportOf(await check(home.place('work'), {}, '--json')).file).toBe(home.place('work/weir.yaml'))
})

const tls = (name: string) => join(projectFolder, `test/fixtures/tls/${name}.pem`)

test.each([
  [
    'a host of another machine',
    'host: 203.0.113.7',
    'host',
    '203.0.113.7 is not an address of this machine.',
  ],
  [
    'a certificate that is missing',
    `tls: { cert: gone.pem, key: ${tls('key')} }`,
    'tls.cert',
    'the file does not exist.',
  ],
  [
    'a key that is a certificate',
    `tls: { cert: ${tls('certificate')}, key: ${tls('certificate')} }`,
    'tls.key',
    'does not contain a private key in PEM format.',
  ],
  ['a key that is a folder', `tls: { cert: ${tls('certificate')}, key: . }`, 'tls.key', 'it is a folder.'],
  [
    'a provider that is named twice',
    'providers: { groq: {}, openai: {}, groq: {} }',
    'providers.groq',
    'is defined twice. Merge the two definitions.',
  ],
])('%s is a problem, as it would be for weir serve', async (_, yaml, path, message) => {
  using home = temporaryHome({ 'work/weir.yaml': yaml })
  const outcome = await check(home.place('work'), {}, '--json')
  expect(outcome.code).toBe(1)
  expect(reportOf(outcome).problems).toEqual([
    { path, message: expect.stringContaining(message), line: 1, column: expect.any(Number) },
  ])
})

test('a key that belongs to another certificate is a problem', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  using home = temporaryHome({
    'work/other.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'work/weir.yaml': `tls: { cert: ${tls('certificate')}, key: other.pem }`,
  })
  const { problems } = reportOf(await check(home.place('work'), {}, '--json'))
  const message = `${home.place('work/other.pem')} is not the private key of ${tls('certificate')}.`
  expect(problems).toEqual([{ path: 'tls.key', message, line: 1, column: expect.any(Number) }])
})

test.each([
  ['WEIR_HOST', '203.0.113.7', 'WEIR_HOST'],
  ['WEIR_DATA', 'weir.yaml/data', 'data folder'],
  ['WEIR_BOOTSTRAP_KEY', 'canary', 'WEIR_BOOTSTRAP_KEY'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'trace collector'],
])('an invalid value of %s is a problem', async (name, value, path) => {
  using home = temporaryHome({ 'work/weir.yaml': 'port: 1' })
  const outcome = await check(home.place('work'), { [name]: value }, '--json')
  expect([outcome.code, ...reportOf(outcome).problems.map((problem) => problem.path)]).toEqual([1, path])
  expect(outcome.out).not.toContain('canary')
})

test('a data file that is not a database is a problem, and weir check creates nothing', async () => {
  using home = temporaryHome({ 'work/data/weir.db': 'a letter to a friend, of some length. '.repeat(40) })
  const { out } = await check(home.place('work'), { WEIR_DATA: 'data' })
  expect(out).toMatch(
    / {2}data folder: The database .*weir\.db cannot be opened: it is damaged, or not a database of SQLite\.$/m,
  )
  expect(readdirSync(home.place('work/data'))).toEqual(['weir.db'])
  await check(home.place('work'), { WEIR_DATA: 'other' })
  expect(readdirSync(home.place('work'))).not.toContain('other')
})

test.skipIf(process.getuid?.() === 0)(
  'a folder or a file that this user cannot write is a problem',
  async () => {
    using home = temporaryHome({ 'work/closed/weir.db': '', 'work/open/weir.db': '' })
    chmodSync(home.place('work/closed'), 0o500)
    chmodSync(home.place('work/open/weir.db'), 0o400)
    const problemOf = async (data: string) =>
      reportOf(await check(home.place('work'), { WEIR_DATA: data }, '--json')).problems[0]?.message
    expect(await problemOf('closed')).toBe(`No permission to write to ${home.place('work/closed')}.`)
    expect(await problemOf('open')).toBe(
      `No permission to read and write ${home.place('work/open/weir.db')}.`,
    )
    chmodSync(home.place('work/closed'), 0o700)
  },
)

test('a variable without braces is a warning and not a problem', async () => {
  using home = temporaryHome({ 'work/weir.yaml': 'providers: { openai: { api_key: $OPENAI_API_KEY } }' })
  const { code, out } = await check(home.place('work'))
  expect(code).toBe(0)
  expect(out).toMatch(
    /^Warnings\n {2}1:24 providers\.openai\.api_key: contains .* write \$\{OPENAI_API_KEY\}\.$/m,
  )
})

test('weir check without any file succeeds', async () => {
  using home = temporaryHome()
  const { code, out } = await check(home.place('work'))
  expect(code).toBe(0)
  expect(out).toContain('no file, only defaults and environment variables')
})

function check(cwd: string, environment: Readonly<Record<string, string>> = {}, ...flags: string[]) {
  return callWeir(['check', ...flags], cwd, environment)
}

function reportOf({ out }: Outcome): CheckReport {
  return JSON.parse(out)
}
