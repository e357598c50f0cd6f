import { describe, expect, test } from 'bun:test'
import { exampleYaml } from '../../../src/config/check-schema.ts'
import { SettingsFile } from '../../../src/config/settings.ts'
import { fieldsOf } from '../../../src/lib/json/json.ts'
import { problemsOf } from './support/temporary-home.ts'

const shape: readonly [yaml: string, ...problems: string[]][] = [
  ['hots: x', 'hots | unknown setting. Did you mean host?'],
  ['retries: { attempt: 3 }', 'retries.attempt | unknown setting. Did you mean attempts?'],
  ['retries: { zzz: 3 }', 'retries.zzz | unknown setting. Known settings: attempts.'],
  ['retries: [1]', 'retries | must be an object, not a list. Example: “retries: { attempts: 1 }”.'],
  ['retries: { attempts: 11 }', 'retries.attempts | must be a whole number from 0 to 10, not 11.'],
  ['port: "80"', 'port | must be a whole number from 0 to 65535, not “80”.'],
  ['port: 80.5', 'port | must be a whole number from 0 to 65535, not 80.5.'],
  ['limits:', 'limits | has no value. Set one, or remove the line.'],
  [
    'limits: { tokens_per_minute: 0 }',
    'limits.tokens_per_minute | must be a whole number of at least 1, not 0.',
  ],
  ['host: ""', 'host | must be a string, not an empty string.'],
  ['unsupported_parameters: keep', 'unsupported_parameters | must be one of reject, drop, not “keep”.'],
  ['compatibility: { open_responses: 1 }', 'compatibility.open_responses | must be true or false, not 1.'],
  [
    'compatibility: { tool_call_fragments: 1 }',
    'compatibility.tool_call_fragments | must be true or false, not 1.',
  ],
  ['breaker: { cooldown: 30 }', 'breaker.cooldown | must be a duration such as 30s, 5m, 24h or 30d, not 30.'],
  [
    'retention: { responses: 0d }',
    'retention.responses | must be a duration such as 30s, 5m, 24h or 30d, not “0d”.',
  ],
  [
    'memory: { in_flight: lots }',
    'memory.in_flight | must be a size such as 32MiB, 500kB or a number of bytes, not “lots”.',
  ],
  ['max_body: lots', 'max_body | must be a size such as 32MiB, 500kB or a number of bytes, not “lots”.'],
  ['tls: { cert: a }', 'tls.key | is missing.'],
  [
    'cors: https://a.test',
    'cors | must be a list, not “https://a.test”. Example: “cors: [https://app.example.com]”.',
  ],
  [
    'cors: [https://a.test/]',
    'cors[0] | must be an origin such as https://app.example.com (without a path or trailing slash), or *, not “https://a.test/”.',
  ],
  [
    'providers: { a: { base_url: a.test } }',
    'providers.a.base_url | must be a URL that begins with http:// or https://, not this string.',
  ],
  [
    'providers: { a: { timeouts: { total: 1s } } }',
    'providers.a.timeouts.total | unknown setting. Known settings: connect, first_byte, idle.',
  ],
  ['providers: { a: { headers: { x: 1 } } }', 'providers.a.headers.x | must be a string, not this number.'],
  [
    'models: { slug: a/b }',
    'models | must be a list, not an object. Example: “models: [{ slug: author/model }]”.',
  ],
  ['models: [{ slug: b }]', 'models[0].slug | must be author/model, not “b”.'],
  ['models: [{ enabled: true }]', 'models[0].slug | is missing.'],
  ['models: [{ slug: a/b, routes: [] }]', 'models[0].routes | must have at least 1 entry.'],
  [
    'models: [{ slug: a/b, routes: [{ provider: x, modle: y }] }]',
    'models[0].routes[0].model | is missing.',
    'models[0].routes[0].modle | unknown setting. Did you mean model?',
  ],
  [
    'models: [{ slug: a/b, fast: { strategy: service_tier, pricing: {} } }]',
    'models[0].fast.service_tier | is missing.',
  ],
  [
    'models: [{ slug: a/b, pricing: { inputs: 1 } }]',
    'models[0].pricing.inputs | unknown setting. Did you mean input?',
  ],
]

describe('an invalid setting is reported with its place and the way to fix it', () => {
  for (const [yaml, ...problems] of shape)
    test(yaml, () => {
      expect(problemsOf(yaml).problems).toEqual(problems)
    })
})

test('all errors of a file are reported at once, also more than a handful', () => {
  const names = Array.from({ length: 12 }, (_, index) => `unknown${index}`)
  const { problems, message } = problemsOf(names.map((name) => `${name}: 1\n`).join(''))
  expect(problems).toHaveLength(12)
  expect(message).toStartWith('There are 12 problems in ')
  expect(message.split('\n')).toHaveLength(13)
})

test('a duplicate model slug or alias is rejected', () => {
  const { problems } = problemsOf(`
models:
  - { slug: a/one, aliases: [one, uno] }
  - { slug: a/two, aliases: [one, a/one, two, two] }
  - { slug: a/one }
`)
  expect(problems).toEqual([
    'models[1].aliases[0] | “one” is already used by models[0].aliases[0]. Each name must be unique.',
    'models[1].aliases[1] | “a/one” is already used by models[0].slug. Each name must be unique.',
    'models[1].aliases[3] | “two” is already used by models[1].aliases[2]. Each name must be unique.',
    'models[2].slug | “a/one” is already used by models[0].slug. Each name must be unique.',
  ])
})

const files: readonly [name: string, yaml: string, problem: string][] = [
  ['an empty file', '', ' | The file is empty. Add a setting, such as “port: 9347”, or remove the file.'],
  [
    'a file of comments',
    '# port: 1\n',
    ' | The file is empty. Add a setting, such as “port: 9347”, or remove the file.',
  ],
  [
    'a file that is a list',
    '- port: 1\n',
    ' | The file must contain named settings, such as “port: 9347”, not a list or a string.',
  ],
  [
    'a file that is a text',
    'hello',
    ' | The file must contain named settings, such as “port: 9347”, not a list or a string.',
  ],
  [
    'a section that is written twice',
    'models: []\nport: 1\nmodels: []\n',
    'models | is defined twice. Merge the two definitions.',
  ],
  [
    'a provider that is named twice',
    'providers:\n  acme: { kind: vllm }\n  groq: {}\n  acme:\n    kind: openai\n',
    'providers.acme | is defined twice. Merge the two definitions.',
  ],
  [
    'a name that an entry of a list has twice, once in quotes',
    'models:\n  - slug: a/b\n    routes: [{ provider: x, model: y, "provider": z }]\n',
    'models[0].routes[0].provider | is defined twice. Merge the two definitions.',
  ],
  [
    'a name that JSON has twice',
    '{"port":1,"tls":{"key":"a","cert":"b","key":"c"}}',
    'tls.key | is defined twice. Merge the two definitions.',
  ],
]

describe('a file that cannot be parsed as settings is reported', () => {
  for (const [name, yaml, problem] of files)
    test(name, () => {
      const { problems } = problemsOf(yaml)
      expect(problems).toEqual([problem])
    })
})

test('the same name in different places, in texts and in comments is not a duplicate', () => {
  const yaml = `
# port: 1
providers: &all
  one: &base { kind: vllm, base_url: 'http://a.test/kind: b', headers: { kind: "kind: \\" kind: x", one: y } }
  two:
    <<: *base
    kind: openai-compatible
    headers:
      note: |
        kind: a
        kind: b
models:
  - slug: a/b
    routes: [{ provider: one, model: 'm: m' }, { provider: two, model: m }]
`
  expect(problemsOf(yaml).problems).toEqual([])
})

test('the example of each setting is a valid value of it', () => {
  for (const [name, schema] of Object.entries(SettingsFile.properties)) {
    const example = exampleYaml(fieldsOf(schema))
    expect([name, problemsOf(`${name}: ${example}`).problems]).toEqual([name, []])
  }
})

test('a provider without a value has the defaults', () => {
  expect(problemsOf('providers:\n  openai:\n').problems).toEqual([])
})

test('no settings error shows a key or a header', () => {
  const yaml = `
port: sk-canary-1
providers:
  openai: { api_key: [sk-canary-2], base_url: sk-canary-3, headers: [sk-canary-4] }
  groq: { api_key: 'sk-canary-5\${', headers: { x: '\${GONE}sk-canary-6' }, kind: { sk: sk-canary-7 } }
  xai: { api_key: '\${KEY}', base_url: '\${KEY}', discover: '\${KEY}' }
`
  const { problems, message } = problemsOf(yaml, { KEY: 'sk-canary-8' })
  expect(problems.length).toBeGreaterThanOrEqual(8)
  expect(message).not.toContain('canary')
})
