import { describe, expect, test } from 'bun:test'
import { roundsOf, testSeed } from '../../../support/seed.ts'
import { importValue } from './support/import-yaml.ts'

/** Texts that YAML, the settings or a terminal could take for something else. */
const texts = [
  '',
  ' ',
  '${HOME}',
  '$${x}',
  'os.environ/A',
  'os.environ/',
  'os.environ/a-b',
  'true',
  '1e9',
  '- a',
  'a: b # c',
  '"\'',
  'line\nbreak',
  '\u001b[31m\u0000\u0085\u2028\ufeff',
  '__proto__',
  'constructor',
  '*',
  'a/*',
  'openai/*',
  '/',
  'a//b',
  '/x',
  'openai/gpt-4o',
  'gpt-4o',
  'weir/echo',
  'azure/x',
  'vertex_ai/gemini-2.5-pro',
  'bedrock/openai.gpt-oss-20b-1:0',
  'ollama/llama',
  'openai/responses/x',
  'http://127.0.0.1:8000/v1',
  'https://x.test/${A}',
  'https://a b',
  'http://[::1]:9/v1?x=1',
  'x'.repeat(400),
]

const names = [
  'model_name',
  'litellm_params',
  'model_info',
  'model',
  'api_base',
  'base_url',
  'api_key',
  'api_version',
  'organization',
  'custom_llm_provider',
  'headers',
  'extra_headers',
  'timeout',
  'stream_timeout',
  'weight',
  'rpm',
  'order',
  'vertex_project',
  'vertex_location',
  'vertex_credentials',
  'aws_region_name',
  'litellm_credential_name',
  'mode',
  'id',
  'base_model',
  'max_tokens',
  'max_input_tokens',
  'supports_vision',
  'supports_function_calling',
  'input_cost_per_token',
  'input_cost_per_token_above_128k_tokens',
  'fallbacks',
  'default_fallbacks',
  'model_group_alias',
  'num_retries',
  'allowed_fails',
  'cooldown_time',
  'drop_params',
  'request_timeout',
  'maximum_spend_logs_retention_period',
  'credential_name',
  'credential_values',
  'content-type',
  'Authorization',
  'x-a',
  '__proto__',
  'a b',
]

describe('no configuration crashes the import, and every result loads', () => {
  test(`random ones (seed ${testSeed})`, () => {
    const random = createRandom(Number(testSeed))
    let models = 0
    const rounds = roundsOf(300, 1500)
    for (let round = 0; round < rounds; round++)
      models += importValue(randomConfig(random)).settings.models?.length ?? 0
    expect(models).toBeGreaterThan(rounds / 3)
  })
})

test('a list that contains itself, and too many entries, are read in bounds', () => {
  const entry: Record<string, unknown> = { model_name: 'a', litellm_params: { model: 'ollama/a' } }
  entry.model_info = { base_model: 'x', self: entry }
  const list: unknown[] = Array.from({ length: 30_000 }, () => entry)
  list[1] = list
  const { settings, notes } = importValue({
    model_list: list,
    litellm_settings: list,
    router_settings: { fallbacks: list },
  })
  expect(settings.models).toHaveLength(1)
  expect(notes).toContain('model_list: Only the first 2000 entries were imported.')
  expect(notes.length).toBeLessThan(1002)
})

test('names in notes and comments are short and on one line', () => {
  const name = `${'n'.repeat(200)}\n- evil: true`
  const { yaml, notes } = importValue({
    model_list: [
      { model_name: name, litellm_params: { model: `unknown\u001b[2J\n/${name}` } },
      { model_name: name, litellm_params: { model: 'ollama/x' } },
    ],
  })
  expect(Bun.YAML.parse(yaml)).not.toHaveProperty('evil')
  for (const note of notes) expect(note).not.toMatch(/\p{Cc}|n{100}/u)
})

function randomConfig(random: () => number): object {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]
  const text = () => pick(texts) ?? ''
  const scalar = () => pick([text(), text(), random() * 100, -1, 0, 1e300, Number.NaN, true, false, null])
  function value(depth: number): unknown {
    if (depth === 0 || random() < 0.5) return scalar()
    if (random() < 0.3) return Array.from({ length: 3 }, () => value(depth - 1))
    return fields(depth - 1, 4)
  }
  function fields(depth: number, count: number): Record<string, unknown> {
    return Object.fromEntries(Array.from({ length: count }, () => [pick(names) ?? '', value(depth)]))
  }
  const some = () =>
    random() < 0.9 ? { model: text(), ...fields(2, 4), ...(random() < 0.7 && { model: text() }) } : value(2)
  const entry = () => ({
    model_name: text(),
    model_info: random() < 0.5 ? fields(2, 4) : value(2),
    litellm_params: some(),
  })
  return {
    model_list: Array.from({ length: 4 }, () => (random() < 0.95 ? entry() : value(2))),
    litellm_settings:
      random() < 0.7 ? { ...fields(3, 4), fallbacks: [{ [text()]: [text(), text()] }] } : value(3),
    router_settings: random() < 0.7 ? { ...fields(3, 4), model_group_alias: { [text()]: text() } } : value(3),
    general_settings: fields(2, 2),
    credential_list: [{ credential_name: text(), credential_values: fields(2, 3) }],
    [text()]: value(2),
  }
}

/** A generator of the numbers that the seed stands for. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
