import { describe, expect, test } from 'bun:test'
import type { ProviderSettings } from '../../../src/config/provider-settings.ts'
import { configureProviders } from '../../../src/providers/config/configure-providers.ts'
import { kinds } from '../../../src/providers/kinds/kinds.ts'

type Entries = Readonly<Record<string, ProviderSettings>>
type Environment = Readonly<Record<string, string>>

function configure(providers: Entries, environment: Environment = {}) {
  const { configured, missing, problems } = configureProviders({ providers }, environment)
  return { configured, missing, problems: problems.map(({ path, message }) => `${path} | ${message}`) }
}

test('a key in the environment configures a provider under the name of its kind', () => {
  const { configured, missing, problems } = configure({}, { OPENAI_API_KEY: ' sk-one\n', GROQ_API_KEY: '' })
  expect([...configured.keys()]).toEqual(['openai'])
  expect(configured.get('openai')).toMatchObject({
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    headers: {},
    timeouts: { connect: 10_000, firstByte: 600_000, idle: 300_000 },
    discover: false,
  })
  expect(configured.get('openai')?.key?.reveal()).toBe('sk-one')
  expect(missing.get('groq')).toBe('Set GROQ_API_KEY, or api_key of providers.groq in weir.yaml.')
  expect(missing.has('openai')).toBe(false)
  expect(problems).toEqual([])
})

test('every provider kind is either configured or reports what to set', () => {
  const { configured, missing } = configure({}, { OPENAI_API_KEY: 'a' })
  for (const name of Object.keys(kinds)) expect(configured.has(name)).toBe(!missing.has(name))
  for (const warning of missing.values()) expect(warning).toMatch(/^(Set|Add) .*weir\.yaml\.$/)
  expect(missing.get('ollama')).toBe('Add providers.ollama to weir.yaml.')
  expect(missing.get('azure')).toBe('Add providers.azure with its base_url and api_key to weir.yaml.')
})

test('the file overrides the environment, and an entry without a key takes it from there', () => {
  const environment = { OPENAI_API_KEY: 'sk-variable' }
  const entries: Entries = {
    openai: { base_url: 'https://proxy.test/v1' },
    second: { kind: 'openai', api_key: 'sk-file' },
    third: { kind: 'openai' },
  }
  const { configured } = configure(entries, environment)
  expect(configured.get('openai')?.baseUrl).toBe('https://proxy.test/v1')
  const keys = [...configured.values()].map(({ name, key }) => [name, key?.reveal()])
  expect(keys).toEqual([
    ['openai', 'sk-variable'],
    ['second', 'sk-file'],
    ['third', 'sk-variable'],
  ])
})

test('an entry without any key is unavailable, not invalid, and reports what to set', () => {
  const { configured, missing, problems } = configure({ mine: { kind: 'openai' }, box: { kind: 'vllm' } })
  expect([...configured.keys()]).toEqual(['box'])
  expect(configured.get('box')?.key).toBeUndefined()
  expect(missing.get('mine')).toBe('Set OPENAI_API_KEY, or api_key of providers.mine in weir.yaml.')
  expect(problems).toEqual([])
})

test('a key variable of a kind without a default base URL configures nothing and is not a problem', () => {
  const { configured, problems } = configure({}, { AZURE_OPENAI_API_KEY: 'a', AWS_BEARER_TOKEN_BEDROCK: 'b' })
  expect(configured.has('azure')).toBe(false)
  expect(configured.has('bedrock')).toBe(false)
  expect(problems).toEqual([])
})

test('trailing slashes of a base URL are removed, so that no path has two', () => {
  const { configured } = configure({ box: { kind: 'vllm', base_url: 'http://box.test:8000/v1//' } })
  const box = configured.get('box')
  if (!box || !('protocol' in box.kind)) throw new Error('box is not configured')
  const url = box.baseUrl + box.kind.path({ model: 'm', stream: false }, box)
  expect(url).toBe('http://box.test:8000/v1/chat/completions')
})

test('a header that carries the key replaces it; header names are in lower case', () => {
  const entries = { openai: { headers: { Authorization: 'Bearer own', 'X-Team': 'a' } } }
  const { configured, problems } = configure(entries, { OPENAI_API_KEY: 'sk-variable' })
  expect(configured.get('openai')?.headers).toEqual({ authorization: 'Bearer own', 'x-team': 'a' })
  expect(configured.get('openai')?.key).toBeUndefined()
  expect(problems).toEqual([])
})

test('a provider has slots if its concurrency is set, with a queue of 64 requests and 30 seconds', () => {
  const { configured } = configure({
    vllm: { concurrency: 4 },
    llamacpp: { base_url: 'http://box:8080/v1', concurrency: 2, queue: { wait: '2m', length: 0 } },
    lmstudio: {},
  })
  expect(configured.get('vllm')?.slots).toEqual({ concurrency: 4, waitMs: 30_000, length: 64 })
  expect(configured.get('llamacpp')?.slots).toEqual({ concurrency: 2, waitMs: 120_000, length: 0 })
  expect(configured.get('lmstudio')?.slots).toBeUndefined()
})

test('timeouts are parsed to milliseconds, each separately', () => {
  const { configured } = configure({ vllm: { timeouts: { first_byte: '2m' }, discover: true } })
  expect(configured.get('vllm')?.timeouts).toEqual({ connect: 10_000, firstByte: 120_000, idle: 300_000 })
  expect(configured.get('vllm')?.discover).toBe(true)
})

const wrong: readonly [name: string, entries: Entries, problem: string | RegExp][] = [
  [
    'a name that is no kind',
    { 'gpu-box': {} },
    /^providers\.gpu-box\.kind \| is missing: gpu-box is not a known kind\. Known kinds: .*vllm/,
  ],
  [
    'a mistyped name',
    { opanai: {} },
    'providers.opanai.kind | is missing: opanai is not a known kind. Did you mean openai?',
  ],
  ['a mistyped kind', { a: { kind: 'azzure' } }, 'providers.a.kind | unknown kind. Did you mean azure?'],
  ['a name of the language', { constructor: {} }, /^providers\.constructor\.kind \| is missing/],
  ['a name with a slash', { 'a/b': { kind: 'vllm' } }, /^providers\.a\/b \| must begin with a letter/],
  [
    'no address',
    { azure: { api_key: 'a' } },
    'providers.azure.base_url | is missing: a provider of kind azure has no default base_url.',
  ],
  [
    'an address with a query',
    { vllm: { base_url: 'http://a.test/v1?x=1' } },
    /^providers\.vllm\.base_url \| must not contain “\?” or “#”/,
  ],
  [
    'an address with a password',
    { vllm: { base_url: 'http://u:canary@a.test/v1' } },
    /^providers\.vllm\.base_url \| must not contain a user name/,
  ],
  [
    'an address that is none',
    { vllm: { base_url: 'http://a b' } },
    /^providers\.vllm\.base_url \| must be a URL/,
  ],
  [
    'a key of two lines',
    { openai: { api_key: 'canary\nx' } },
    /^providers\.openai\.api_key \| must contain only printable ASCII/,
  ],
  [
    'the key twice',
    { openai: { api_key: 'a', headers: { authorization: 'canary' } } },
    /^providers\.openai\.headers\.authorization \| is the header that carries api_key/,
  ],
  [
    'a header twice',
    { vllm: { headers: { 'X-A': '1', 'x-a': '2' } } },
    /^providers\.vllm\.headers\.x-a \| is set twice/,
  ],
  [
    'a header of two lines',
    { vllm: { headers: { 'x-a': 'canary\r\nb: c' } } },
    /^providers\.vllm\.headers\.x-a \| must have a value/,
  ],
  [
    'a header that cannot be',
    { vllm: { headers: { 'x a': '1' } } },
    /^providers\.vllm\.headers\."x a" \| is not a valid header name/,
  ],
  [
    'a header of ours',
    { vllm: { headers: { Host: 'a' } } },
    /^providers\.vllm\.headers\.Host \| is a header that Weir sets itself/,
  ],
  [
    'a setting of another kind',
    { vllm: { api_version: 'a' } },
    'providers.vllm.api_version | is not supported by providers of kind vllm. Remove it.',
  ],
  [
    'a timeout of months',
    { vllm: { timeouts: { idle: '60d' } } },
    'providers.vllm.timeouts.idle | must be at most 24h.',
  ],
  [
    'a queue without slots',
    { vllm: { queue: { length: 3 } } },
    'providers.vllm.queue | has no effect without concurrency. Set that, too.',
  ],
  [
    'a queue of months',
    { vllm: { concurrency: 1, queue: { wait: '60d' } } },
    'providers.vllm.queue.wait | must be at most 24h.',
  ],
]

describe('an invalid provider entry is a problem with its path', () => {
  for (const [name, entries, problem] of wrong)
    test(name, () => {
      const { configured, missing, problems } = configure(entries)
      const [entry] = Object.keys(entries)
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(problem)
      expect(problems.join()).not.toContain('canary')
      expect(configured.has(entry!)).toBe(false)
      expect(missing.get(entry!)).toStartWith('Fix providers.')
    })
})

test('an invalid key variable is a problem of that variable', () => {
  const { configured, problems } = configure({}, { OPENAI_API_KEY: 'two words' })
  expect(problems).toEqual(['OPENAI_API_KEY | must contain only printable ASCII characters and no spaces.'])
  expect(configured.has('openai')).toBe(false)
})

describe.if(Object.hasOwn(kinds, 'echo'))('the built-in provider', () => {
  test('is enabled when no other can be called, also where others are named without a key', () => {
    const cases: readonly Entries[] = [{}, { groq: {} }]
    for (const entries of cases) {
      const { configured, missing } = configure(entries)
      expect([...configured.keys()]).toEqual(['echo'])
      expect(configured.get('echo')?.baseUrl).toBe('')
      expect(missing.has('echo')).toBe(false)
    }
  })

  test('is disabled where others are configured, unless the file names it', () => {
    const environment = { GROQ_API_KEY: 'a' }
    expect(configure({}, environment).configured.has('echo')).toBe(false)
    expect(configure({}, environment).missing.get('echo')).toBe('Add providers.echo to weir.yaml.')
    expect([...configure({ echo: {} }, environment).configured.keys()]).toEqual(['echo', 'groq'])
  })

  test('has no base URL and no key', () => {
    const { problems } = configure({ echo: { base_url: 'http://a.test', api_key: 'a' } })
    expect(problems).toEqual([
      'providers.echo.base_url | is not supported by providers of kind echo. Remove it.',
      'providers.echo.api_key | is not supported by providers of kind echo. Remove it.',
    ])
  })
})
