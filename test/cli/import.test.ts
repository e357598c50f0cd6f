import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { loadSettings } from '../../src/config/load.ts'
import { embeddingReply, embeddingsOf } from '../api/support/embeddings.ts'
import { startApp } from '../support/app.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { readCompletion } from '../support/chat-reply.ts'
import { json } from '../support/script.ts'
import { createUpstream } from '../support/upstream.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { callWeir, runWeir } from './support/run-weir.ts'

const source = `model_list:
  - model_name: chat
    litellm_params: { model: azure/eu, api_base: os.environ/EU_BASE, api_key: os.environ/EU_KEY, order: 1 }
  - model_name: chat
    litellm_params: { model: azure/us, api_base: https://us.openai.azure.com, api_key: sk-plain0text0key0of0azure, order: 2 }
    model_info: { max_input_tokens: 64000 }
router_settings: { fallbacks: [{ chat: [local] }], num_retries: 1 }
litellm_settings: { success_callback: [langfuse] }
`

describe('weir import litellm', () => {
  test('prints settings that weir check accepts, and names what was not imported', async () => {
    using home = temporaryHome({ 'work/config.yaml': source })
    const { code, out, err } = await runWeir(['import', 'litellm', 'config.yaml'], home.place('work'))
    expect(code).toBe(0)
    expect(out).toStartWith('# Imported by weir import litellm from config.yaml.\n\nproviders:\n')
    expect(`${out}${err}`).not.toContain('sk-plain')
    expect(err.split('\n')).toContain(
      'litellm_settings.success_callback: Weir has no callbacks; it has metrics at /metrics, a log line for each request, and OpenTelemetry traces.',
    )
    writeFileSync(home.place('work/weir.yaml'), out)
    const unset = await callWeir(['check'], home.place('work'))
    expect(unset.code).toBe(1)
    expect(unset.out).toContain('uses the environment variable EU_BASE, which is not set')
    const environment = { EU_BASE: 'https://eu.test', EU_KEY: 'a', AZURE_US_API_KEY: 'b' }
    expect((await callWeir(['check'], home.place('work'), environment)).code).toBe(0)
  })

  test('writes a new file and never overwrites one', async () => {
    using home = temporaryHome({ 'work/config.yaml': source })
    const args = ['import', 'litellm', 'config.yaml', '--out', 'weir.yaml']
    const { code, out } = await callWeir(args, home.place('work'))
    expect({ code, out }).toEqual({
      code: 0,
      out: `Wrote ${home.place('work/weir.yaml')}: 2 providers, 1 model. 4 notes below.\n`,
    })
    const written = readFileSync(home.place('work/weir.yaml'), 'utf8')
    expect(written).toContain('routes:')
    const again = await callWeir(args, home.place('work'))
    expect(again).toEqual({
      code: 1,
      out: '',
      err: `${home.place('work/weir.yaml')} exists and was not overwritten; choose another --out.\n`,
    })
    expect(readFileSync(home.place('work/weir.yaml'), 'utf8')).toBe(written)
  })

  test('with --json prints the settings, the YAML and what was not imported', async () => {
    using home = temporaryHome({ 'work/config.yaml': source })
    const { code, out, err } = await callWeir(
      ['import', 'litellm', 'config.yaml', '--json'],
      home.place('work'),
    )
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const { config, yaml, not_imported: notes } = JSON.parse(out)
    expect(Bun.YAML.parse(yaml)).toEqual(config)
    expect(notes).toContainEqual({
      path: 'router_settings.fallbacks[0].chat[0]',
      reason: 'This fallback names no imported model.',
    })
  })
})

const failures: readonly [name: string, text: string, message: RegExp][] = [
  ['a settings file of Weir', 'port: 1', /is not a LiteLLM configuration: it has no model_list/],
  ['an empty file', '', /is not a LiteLLM configuration/],
  ['two documents', '---\nmodel_list: []\n---\na: 1', /cannot be read: 3:1 A second document begins here/],
  [
    'no model that Weir serves',
    'model_list: [{ model_name: a, litellm_params: { model: sagemaker/a } }]',
    /has no model that Weir can serve/,
  ],
  ['broken YAML', 'model_list:\n  - a: [', /cannot be read: 2:\d+ .*This is not valid YAML\./],
  [
    'deep nesting',
    `model_list: ${'['.repeat(200_000)}`,
    /cannot be read: 1:\d+ The file is nested too deeply/,
  ],
  ['more than 1 MiB', `# ${'x'.repeat(1024 * 1024)}`, /has more than 1 MiB/],
  [
    'aliases that multiply',
    Array.from(
      { length: 40 },
      (_, n) => `a${n}: &a${n} [${n === 0 ? 'x' : Array(9).fill(`*a${n - 1}`)}]`,
    ).join('\n'),
    /cannot be read: The aliases .* have too many values/,
  ],
]

test('weir import litellm --json lists what was not imported where nothing was', async () => {
  const nothing = 'model_list: [{ model_name: a, litellm_params: { model: sagemaker/a } }]'
  using home = temporaryHome({ 'work/config.yaml': nothing })
  const args = ['import', 'litellm', 'config.yaml']
  const readable = await callWeir(args, home.place('work'))
  const { code, out, err } = await callWeir([...args, '--json'], home.place('work'))
  expect({ code, out }).toEqual({ code: 1, out: '' })
  const { error } = JSON.parse(err)
  expect(error.code).toBe('failed')
  expect(error.message).toContain('has no model that Weir can serve')
  const notes: { path: string; reason: string }[] = error.not_imported
  expect(notes[0]?.reason).toContain('SageMaker')
  const lines = notes.map(({ path, reason }) => `${path}: ${reason}`)
  expect(readable.err).toBe(`${[...lines, error.message].join('\n')}\n`)
})

describe('weir import litellm fails with exit code 1 and one message for', () => {
  test.each(failures)('%s', async (_, text, message) => {
    using home = temporaryHome({ 'work/config.yaml': text })
    const { code, out, err } = await callWeir(
      ['import', 'litellm', 'config.yaml', '--json'],
      home.place('work'),
    )
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(JSON.parse(err).error.message).toMatch(message)
  })

  test.each([
    ['missing.yaml', 'the file does not exist'],
    ['.', 'is not a file'],
    ['/dev/zero', 'is not a file'],
  ])('the file %s', async (file, reason) => {
    using home = temporaryHome()
    const { code, err } = await callWeir(['import', 'litellm', file], home.place('work'))
    expect(code).toBe(1)
    expect(err).toContain(reason)
  })
})

test.each([
  [['import'], 'Missing subcommand for weir import. Available: litellm. For help, run: weir import --help'],
  [
    ['import', 'litelm', 'x'],
    'Unknown subcommand “litelm” for weir import. Did you mean litellm? For help, run: weir import --help',
  ],
  [['import', 'litellm'], 'Missing argument FILE for weir import litellm. For help, run: weir import --help'],
  [['import', 'litellm', 'x', '--out'], 'The flag --out requires a value. For help, run: weir import --help'],
])('weir %p is wrong usage', async (args, message) => {
  using home = temporaryHome()
  expect(await callWeir(args, home.place('work'))).toEqual({ code: 2, out: '', err: `${message}\n` })
})

test('a key that is defined twice is named, and the last one is imported', async () => {
  using home = temporaryHome({ 'work/config.yaml': `${source}litellm_settings: { num_retries: 4 }\n` })
  const { out, err } = await callWeir(['import', 'litellm', 'config.yaml'], home.place('work'))
  expect(err).toStartWith('litellm_settings: It is defined twice; the last one was imported.\n')
  expect(out).not.toContain('langfuse')
})

test('a gateway with the imported settings serves a request, and falls back as LiteLLM would', async () => {
  await using first = await createUpstream(json({ error: { message: 'Down.' } }, { status: 503 }))
  await using second = await createUpstream(jsonReply())
  using home = temporaryHome({
    'work/config.yaml': `model_list:
  - { model_name: chat, litellm_params: { model: azure/eu, api_base: os.environ/EU_BASE, api_key: os.environ/EU_KEY, api_version: 2024-10-21 } }
  - { model_name: spare, litellm_params: { model: openai/lake, api_base: "${second.url}", api_key: os.environ/SPARE_KEY, extra_headers: { x-team: blue } } }
litellm_settings: { fallbacks: [{ chat: [spare] }], num_retries: 0, drop_params: True }
router_settings: { model_group_alias: { gpt-4: chat } }
`,
  })
  const args = ['import', 'litellm', 'config.yaml', '--out', 'weir.yaml']
  expect((await callWeir(args, home.place('work'))).code).toBe(0)
  const environment = {
    EU_BASE: first.url.replace('/v1', ''),
    EU_KEY: 'key-of-eu',
    SPARE_KEY: 'key-of-spare',
  }
  const input = { flags: {}, environment, cwd: home.place('work'), home: home.place('home') }
  const { providers, models, retries, unsupportedParameters } = loadSettings(input).settings
  await using app = await startApp({
    settings: { providers, models: [...models], retries, unsupported_parameters: unsupportedParameters },
    environment,
  })
  const messages = [{ role: 'user', content: 'How deep is it?' }]
  const { choices } = await readCompletion(await app.chat({ model: 'gpt-4', messages }))
  expect(choices[0]?.message.content).toBe('It is four metres.')
  expect(first.requests[0]?.path).toBe('/openai/deployments/eu/chat/completions?api-version=2024-10-21')
  expect(first.requests[0]?.headers.get('api-key')).toBe('key-of-eu')
  expect(second.requests).toHaveLength(1)
  expect(second.requests[0]?.body.model).toBe('lake')
  expect(second.requests[0]?.headers.get('authorization')).toBe('Bearer key-of-spare')
  expect(second.requests[0]?.headers.get('x-team')).toBe('blue')
})

test('an imported embedding model serves embeddings under its name in LiteLLM', async () => {
  await using upstream = await createUpstream(embeddingReply([[0.5, -0.25, 1]]))
  using home = temporaryHome({
    'work/config.yaml': `model_list:
  - { model_name: texts, litellm_params: { model: hosted_vllm/bge, api_base: "${upstream.url}" }, model_info: { mode: embedding } }
`,
  })
  const args = ['import', 'litellm', 'config.yaml', '--out', 'weir.yaml']
  expect((await callWeir(args, home.place('work'))).code).toBe(0)
  const input = { flags: {}, environment: {}, cwd: home.place('work'), home: home.place('home') }
  const { providers, models } = loadSettings(input).settings
  await using app = await startApp({ settings: { providers, models: [...models] } })
  const { model, data } = await embeddingsOf(app, { model: 'texts', input: 'How deep is it?' })
  expect({ model, embedding: data[0]?.embedding }).toEqual({
    model: 'vllm/texts',
    embedding: [0.5, -0.25, 1],
  })
  expect(upstream.requests[0]?.body.model).toBe('bge')
})
