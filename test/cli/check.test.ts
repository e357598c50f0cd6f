import { expect, test } from 'bun:test'
import type { CheckReport } from '../../src/cli/check-report.ts'
import { temporaryHome } from '../config/temporary-home.ts'
import { type Outcome, runWeir } from './run-weir.ts'

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

test('sound settings end with 0: file, folder, providers with keys, and why named models are off', async () => {
  using home = temporaryHome({ 'work/weir.yaml': sound })
  const { code, out, err } = await check(home.place('work'), { OPENAI_API_KEY: 'sk-canary' })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(`Settings  ${home.place('work/weir.yaml')}\n`)
  expect(out).toContain(`Data      ${home.place('work/.local/share/weir')}\n`)
  expect(out).toContain('No problems.')
  expect(out).toMatch(/^box +vllm +http:\/\/gpu\.test:8000\/v1 +no$/m)
  expect(out).toMatch(/^openai +openai +https:\/\/api\.openai\.com\/v1 +yes$/m)
  expect(out).toMatch(/^groq +groq +- +no +Set GROQ_API_KEY, or api_key of providers\.groq in weir\.yaml\.$/m)
  expect(out).toMatch(/^Models: \d+ on, \d+ off\.$/m)
  expect(out).toContain('  acme/keyless: Set GROQ_API_KEY, or api_key of providers.groq in weir.yaml.\n')
  expect(out).toMatch(/^ {2}acme\/switched-off: /m)
  expect(out).not.toContain('acme/on')
  expect(out).not.toContain('canary')
})

test('as JSON the same is an object', async () => {
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

test('problems of providers and models are told with their paths, and end with 1', async () => {
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
  expect(outcome.err).toBe('3 problems found.\n')
  expect(report.ok).toBe(false)
  const paths = report.problems.map(({ path }) => path)
  expect(paths).toEqual([
    'providers.az.kind',
    expect.stringMatching(/^models\[0\]/),
    'models[1].routes[1].provider',
  ])
})

test('settings that cannot be read are reported the same way', async () => {
  using home = temporaryHome({ 'work/weir.yaml': 'hots: canary\nport: x\n' })
  const { code, out, err } = await check(home.place('work'))
  expect({ code, err }).toEqual({ code: 1, err: '2 problems found.\n' })
  expect(out).toContain('  hots: unknown setting; did you mean host?\n')
  expect(out).toContain('  port: must be a whole number from 0 to 65535')
  expect(out).not.toContain('canary')
  expect(reportOf(await check(home.place('work'), {}, '--json')).file).toBe(home.place('work/weir.yaml'))
})

test('without any file the check is sound', async () => {
  using home = temporaryHome()
  const { code, out } = await check(home.place('work'))
  expect(code).toBe(0)
  expect(out).toContain('no file; defaults and environment')
})

function check(cwd: string, environment: Readonly<Record<string, string>> = {}, ...flags: string[]) {
  return runWeir(['check', ...flags], cwd, environment)
}

function reportOf({ out }: Outcome): CheckReport {
  return JSON.parse(out)
}
