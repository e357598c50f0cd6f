import { describe, expect, test } from 'bun:test'
import { isLitellmConfig } from '../../../../src/cli/import/import-config.ts'
import { importYaml, oneModel } from './support/import-yaml.ts'

const model = oneModel('{ model: ollama/river }')

describe('settings beside the models', () => {
  test.each([
    ['litellm_settings: { drop_params: True }', { unsupported_parameters: 'drop' }],
    ['litellm_settings: { drop_params: "no" }', {}],
    ['litellm_settings: { num_retries: 3 }', { retries: { attempts: 3 } }],
    [
      'router_settings: { num_retries: 1 }\nlitellm_settings: { num_retries: 3 }',
      { retries: { attempts: 1 } },
    ],
    ['litellm_settings: { num_retries: 99 }', { retries: { attempts: 10 } }],
    [
      'router_settings: { allowed_fails: 3, cooldown_time: 30 }',
      { breaker: { failures: 4, cooldown: '30s' } },
    ],
    ['litellm_settings: { cooldown_time: 0.25 }', { breaker: { cooldown: '250ms' } }],
    ['router_settings: { cooldown_time: 0 }', {}],
    ['general_settings: { maximum_spend_logs_retention_period: 30d }', { retention: { usage: '30d' } }],
    ['general_settings: { maximum_spend_logs_retention_period: forever }', {}],
  ])('%s', (source, expected) => {
    const { settings } = importYaml(`${model}\n${source}`)
    const names = Object.keys(settings).filter((name) => name !== 'providers' && name !== 'models')
    expect(names).toEqual(Object.keys(expected))
    expect(settings).toMatchObject(expected)
  })

  test('a timeout of all models is one of each provider, unless it is the default of Weir', () => {
    const timeouts = (source: string) =>
      importYaml(`${model}\n${source}`).settings.providers?.ollama?.timeouts
    expect(timeouts('litellm_settings: { request_timeout: 20 }')).toEqual({ first_byte: '20s' })
    expect(timeouts('router_settings: { timeout: 30, stream_timeout: 5 }')).toEqual({ first_byte: '30s' })
    expect(timeouts('router_settings: { stream_timeout: 5 }')).toBeUndefined()
    expect(timeouts('litellm_settings: { request_timeout: 600 }')).toBeUndefined()
    expect(timeouts('litellm_settings: { request_timeout: 1e300 }')).toEqual({ first_byte: '86400s' })
  })
})

test.each([
  [
    'litellm_settings: { success_callback: [langfuse] }',
    'litellm_settings.success_callback: Weir has no callbacks',
  ],
  ['litellm_settings: { cache: true }', 'litellm_settings.cache: Weir does not cache'],
  [
    'litellm_settings: { context_window_fallbacks: [] }',
    'litellm_settings.context_window_fallbacks: Add the larger model',
  ],
  ['router_settings: { routing_strategy: least-busy }', 'router_settings.routing_strategy: Weir distributes'],
  ['router_settings: { redis_host: h }', 'router_settings.redis_host: Weir needs no Redis.'],
  ['general_settings: { master_key: sk-1 }', 'general_settings.master_key: Keys are not in this file'],
  ['general_settings: { database_url: x }', 'general_settings.database_url: Weir has its own database'],
  ['environment_variables: { A: b }', 'environment_variables.A: Weir sets no environment variables'],
  ['guardrails: []', 'guardrails: Weir has no guardrails.'],
  ['include: [other.yaml]', 'include: Only this file was read'],
  ['something_new: 1', 'something_new: Weir has no such setting.'],
])('%s is named as not imported', (source, note) => {
  const { notes } = importYaml(`${model}\n${source}`)
  expect(notes).toHaveLength(1)
  expect(notes[0]).toStartWith(note)
})

test('a parameter of a model that Weir has no setting for is named with its path', () => {
  const source = oneModel(
    '{ model: ollama/river, rpm: 5, temperature: 0.2, max_budget: 1, tags: [a], new_one: 1 }',
    'chat',
    '{ team_id: a, supports_web_search: true }',
  )
  expect(importYaml(source).notes.map((note) => note.split(': ')[0])).toEqual([
    'model_list[0].litellm_params.rpm',
    'model_list[0].litellm_params.temperature',
    'model_list[0].litellm_params.max_budget',
    'model_list[0].litellm_params.tags',
    'model_list[0].litellm_params.new_one',
    'model_list[0].model_info.team_id',
    'model_list[0].model_info.supports_web_search',
  ])
})

test.each([
  [{ model_list: [] }, true],
  [{ litellm_settings: {} }, true],
  [{ model_list: 'x' }, false],
  [{ providers: {} }, false],
  [[], false],
  [null, false],
  ['text', false],
])('whether %p is a LiteLLM configuration: %p', (value, expected) => {
  expect(isLitellmConfig(value)).toBe(expected)
})

test('comments say where a setting came from', () => {
  const { yaml } = importYaml(`${model}\nlitellm_settings: { num_retries: 3 }`)
  expect(yaml).toContain('  # model_list[0]\n  ollama: {}\n')
  expect(yaml).toContain('  # “chat”: model_list[0]\n  - slug: ollama/chat\n')
  expect(yaml).toContain('# litellm_settings.num_retries\nretries: { attempts: 3 }\n')
})
