import { expect, test } from 'bun:test'
import { SettingsError } from '../../../src/config/problem.ts'
import { configure, loadAllSettings } from '../../../src/gateway/configuration.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { temporaryHome } from './support/temporary-home.ts'

type Environment = Readonly<Record<string, string>>

const weirKey = 'sk-weir-canary000000-canarycanarycanarycanarycanary00'

/** The yaml, the whole message with FILE for the file, and the environment. */
const cases: readonly [name: string, yaml: string, message: string, environment?: Environment][] = [
  [
    'mistakes of every kind',
    `host: 8080
port: "80"
retries: { attempt: 3 }
retention: { usage: 30 days }
log: everything
providers:
  box:
    kind: vlm
    api_key: 12345678
  az: { kind: azure, api_key: "\${AZURE_KEY}" }
models:
  - slug: acme/one
    routes: [{ provider: nowhere, model: m }, { provider: openai, modle: y }]
  - slug: acme/one
    enabled: maybe
    routes: [{ provider: elsewhere, model: m }]
page: true
page: false
`,
    `There are 16 problems in FILE:
  1:1 host: must be a string, not 8080.
  2:1 port: must be a whole number from 0 to 65535, not “80”.
  3:12 retries.attempt: unknown setting. Did you mean attempts?
  4:14 retention.usage: must be a duration such as 30s, 5m, 24h or 30d, not “30 days”.
  5:1 log: must be one of requests, errors, off, not “everything”.
  8:5 providers.box.kind: unknown kind. Did you mean vllm?
  9:5 providers.box.api_key: must be a string, not this number.
  10:3 providers.az.base_url: is missing: a provider of kind azure has no default base_url.
  10:22 providers.az.api_key: uses the environment variable AZURE_KEY, which is not set.
  13:16 models[0].routes[0].provider: “nowhere” is not a configured provider.
  13:47 models[0].routes[1].model: is missing.
  13:67 models[0].routes[1].modle: unknown setting. Did you mean model?
  14:5 models[1].slug: “acme/one” is already used by models[0].slug. Each name must be unique.
  15:5 models[1].enabled: must be true or false, not “maybe”.
  16:16 models[1].routes[0].provider: “elsewhere” is not a configured provider.
  18:1 page: is defined twice. Merge the two definitions.`,
  ],
  [
    'a syntax error that leaves the rest readable',
    'port: x\nhost: @x\nfoo: 1\nlimits: { requests_per_minute: 0 }\n',
    `There are 4 problems in FILE:
  1:1 port: must be a whole number from 0 to 65535, not “x”.
  2:7 A value cannot begin with this character. Put it in quotes. This is not valid YAML.
  3:1 foo: unknown setting. Known settings: host, port, workers, database, providers, models, retries, breaker, limits, unsupported_parameters, retention, background, compatibility, user_hash_key, log, memory, max_body, cors, page, tls, webhooks, alerts.
  4:11 limits.requests_per_minute: must be a whole number of at least 1, not 0.`,
  ],
  [
    'two syntax errors',
    'port: 1: 2\n\ncors: [a\nhost: b\n',
    `There are 2 problems in FILE:
  1:7 A second “: ” is in this line. Put the value in quotes, or begin a new line. This is not valid YAML.
  4:1 The indentation is wrong, or a bracket, brace or quote before it is not closed. This is not valid YAML.`,
  ],
  [
    'a quote that is not closed, behind a comment',
    'port: 1\r\n\r\n# why\r\nhost: "canary\r\n',
    'In FILE:4:14: A closing quote, a colon, a comma or the space after a colon is missing. This is not valid YAML.',
  ],
  [
    'an indent of a tab',
    'limits:\n\trequests_per_minute: 1\n',
    'In FILE:2:1: The indentation contains a tab. Use spaces. This is not valid YAML.',
  ],
  [
    'an alias without an anchor',
    'host: *canary\n',
    'In FILE:1:7: This alias (*) has no anchor (&) before it. This is not valid YAML.',
  ],
  [
    'a second document',
    'port: 1\n---\nport: 2\n',
    'In FILE:2:1: A second document begins here. Remove the line “---”. This is not valid YAML.',
  ],
  [
    'a mistake behind an alias',
    'providers:\n  one: &base { kind: vllm, base_url: http://a.test, canary: 1 }\n  two: *base\n',
    `There are 2 problems in FILE:
  2:53 providers.one.canary: unknown setting. Known settings: KNOWN.
  3:3 providers.two.canary: unknown setting. Known settings: KNOWN.`,
  ],
  [
    'a configuration of LiteLLM',
    'model_list:\n  - { model_name: a, litellm_params: { model: openai/a } }\ngeneral_settings: {}\n',
    'In FILE:1:1: model_list: is a setting of LiteLLM. To convert the file, run: weir import litellm FILE --out new.yaml',
  ],
  [
    'a key of Weir as the key of a provider',
    `port: 1\nproviders:\n  openai:\n    api_key: ${weirKey}\n`,
    'In FILE:4:5: providers.openai.api_key: is an API key of Weir, which is for clients of Weir. Set the API key that the provider issued.',
  ],
  [
    'a key of Weir in the variable of a provider',
    'port: 1\n',
    'OPENAI_API_KEY: is an API key of Weir, which is for clients of Weir. Set the API key that the provider issued.',
    { OPENAI_API_KEY: weirKey },
  ],
  [
    'a value of the environment',
    "port: '${PORT}'\nlog: '${LOG}'\n",
    `There are 2 problems in FILE:
  1:1 port: must be a whole number from 0 to 65535, not this string.
  2:1 log: must be one of requests, errors, off, not this string.`,
    { PORT: '12', LOG: 'canary' },
  ],
  [
    'values that may be secret',
    `port: sk-canary1
cors: https://user:canary@a.test
log: canary00canary00
host: [canary]
database: canary
providers:
  openai: canary
  xai: { headers: canary }
`,
    `There are 7 problems in FILE:
  1:1 port: must be a whole number from 0 to 65535, not this string.
  2:1 cors: must be a list, not this string. Example: “cors: [https://app.example.com]”.
  3:1 log: must be one of requests, errors, off, not this string.
  4:1 host: must be a string, not a list.
  5:1 database: must be the URL of a PostgreSQL database, such as postgres://weir:PASSWORD@db.example.com/weir, not this string.
  7:3 providers.openai: must be an object, not this string. Example: “openai: { kind: vllm }”.
  8:10 providers.xai.headers: must be an object, not this string. Example: “headers: { x-team: blue }”.`,
  ],
]

for (const [name, yaml, message, environment] of cases)
  test(`the message on ${name} has all problems with their positions`, () => {
    expect(messageOf(yaml, environment)).toBe(message)
  })

/** The message of the error without the names that differ from run to run, or are long. */
function messageOf(yaml: string, environment: Environment = {}): string {
  using home = temporaryHome({ 'work/weir.yaml': yaml })
  const input = { flags: {}, environment, cwd: home.place('work'), home: home.place('home') }
  try {
    const { settings, file } = loadAllSettings(input)
    configure({ settings, file, environment }, silentLog)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return error.message
      .replaceAll(home.place('work/weir.yaml'), 'FILE')
      .replaceAll(/: kind, base_url.+\./g, ': KNOWN.')
  }
  return 'no problems'
}
