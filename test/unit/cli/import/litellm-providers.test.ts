import { describe, expect, test } from 'bun:test'
import { importYaml, oneModel } from './support/import-yaml.ts'

/** The name of the provider, its settings, and the model of the route. */
const deployments: readonly [params: string, name: string, provider: object, model: string][] = [
  ['{ model: openai/gpt-4o }', 'openai', {}, 'gpt-4o'],
  ['{ model: gpt-4o, api_key: os.environ/OPENAI_API_KEY }', 'openai', {}, 'gpt-4o'],
  ['{ model: claude-sonnet-4-5 }', 'anthropic', {}, 'claude-sonnet-4-5'],
  ['{ model: groq/llama-x, api_key: os.environ/TEAM }', 'groq', { api_key: '${TEAM}' }, 'llama-x'],
  ['{ model: openai/gpt-4o, api_base: https://api.openai.com/v1 }', 'openai', {}, 'gpt-4o'],
  [
    '{ model: openai/org/river, api_base: "http://10.0.0.5:8000/v1/chat/completions", api_key: none }',
    'host-10-0-0-5-8000',
    { kind: 'openai-compatible', base_url: 'http://10.0.0.5:8000/v1' },
    'org/river',
  ],
  [
    '{ model: river, custom_llm_provider: openai, api_base: https://llm.acme.test/v1, api_key: os.environ/A }',
    'acme',
    { kind: 'openai-compatible', base_url: 'https://llm.acme.test/v1', api_key: '${A}' },
    'river',
  ],
  [
    '{ model: azure/eu, api_base: https://acme.openai.azure.com/, api_version: 2024-10-21, api_key: os.environ/K }',
    'azure',
    { base_url: 'https://acme.openai.azure.com', api_version: '2024-10-21', api_key: '${K}' },
    'eu',
  ],
  ['{ model: azure/o_series/o3, api_version: preview }', 'azure', { base_url: '${AZURE_API_BASE}' }, 'o3'],
  [
    '{ model: azure_ai/phi, api_base: "https://acme.services.ai.azure.com/models/chat/completions?api-version=v1" }',
    'azure',
    { base_url: 'https://acme.services.ai.azure.com/models', api_key: '${AZURE_AI_API_KEY}' },
    'phi',
  ],
  [
    '{ model: azure_ai/claude-x, api_base: https://acme.services.ai.azure.com/anthropic/v1/messages }',
    'anthropic-acme',
    {
      kind: 'anthropic',
      base_url: 'https://acme.services.ai.azure.com/anthropic',
      api_key: '${AZURE_AI_API_KEY}',
    },
    'claude-x',
  ],
  [
    '{ model: vertex_ai/gemini-x, vertex_project: acme-1, vertex_location: europe-west4, vertex_credentials: key.json }',
    'vertex',
    { project: 'acme-1', location: 'europe-west4', credentials: 'key.json' },
    'gemini-x',
  ],
  [
    '{ model: vertex_ai/claude-x@20250101, vertex_credentials: os.environ/FILE }',
    'vertex-anthropic',
    { project: '${VERTEXAI_PROJECT}', location: '${VERTEXAI_LOCATION}', credentials: '${FILE}' },
    'claude-x@20250101',
  ],
  [
    '{ model: bedrock/converse/openai.gpt-oss-20b-1:0, aws_region_name: us-west-2 }',
    'bedrock',
    { base_url: 'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1' },
    'openai.gpt-oss-20b-1:0',
  ],
  [
    '{ model: ollama_chat/llama3, api_base: http://localhost:11434 }',
    'ollama',
    { base_url: 'http://localhost:11434/v1' },
    'llama3',
  ],
  ['{ model: ollama/llama3, api_base: os.environ/O }', 'ollama', { base_url: '${O}/v1' }, 'llama3'],
  ['{ model: hosted_vllm/q, api_base: http://gpu:8000/v1 }', 'vllm', { base_url: 'http://gpu:8000/v1' }, 'q'],
  ['{ model: fireworks_ai/q }', 'fireworks', {}, 'accounts/fireworks/models/q'],
  [
    '{ model: huggingface/together/org/q }',
    'huggingface',
    { api_key: '${HUGGINGFACE_API_KEY}' },
    'org/q:together',
  ],
  [
    '{ model: deepinfra/org/q }',
    'deepinfra',
    {
      kind: 'openai-compatible',
      base_url: 'https://api.deepinfra.com/v1/openai',
      api_key: '${DEEPINFRA_API_KEY}',
    },
    'org/q',
  ],
  [
    '{ model: madeup/org/q, api_base: https://api.madeup.test/v1, api_key: os.environ/M }',
    'madeup',
    { kind: 'openai-compatible', base_url: 'https://api.madeup.test/v1', api_key: '${M}' },
    'org/q',
  ],
  [
    '{ model: openai/gpt-4o, organization: org-1, timeout: 30, stream_timeout: 0.5, extra_headers: { x-team: blue } }',
    'openai',
    { headers: { 'x-team': 'blue', 'openai-organization': 'org-1' }, timeouts: { first_byte: '30s' } },
    'gpt-4o',
  ],
]

describe('a deployment of LiteLLM becomes a provider and a route', () => {
  test.each(deployments)('%s', (params, name, provider, model) => {
    const { settings } = importYaml(oneModel(params))
    expect(settings.providers).toEqual({ [name]: provider })
    expect(settings.models?.[0]?.routes).toEqual([{ provider: name, model }])
  })
})

test.each([
  ['{ model: azure/responses/five, api_base: https://acme.openai.azure.com }', '{}'],
  ['{ model: openai/responses/five }', '{}'],
  ['{ model: openai/five }', '{ mode: responses }'],
])('%s with model_info %s is called by the Responses API', (params, info) => {
  const { settings } = importYaml(oneModel(params, 'chat', info))
  expect(settings.models?.[0]?.routes).toMatchObject([{ model: 'five', api: 'responses' }])
})

const rejected: readonly [params: string, info: string, reason: RegExp][] = [
  ['{ model: sagemaker/x }', '{}', /does not call SageMaker/],
  ['{ model: bedrock/anthropic.claude-v2 }', '{}', /OpenAI-compatible endpoint, which does not serve/],
  ['{ model: bedrock/openai.gpt-oss-20b-1:0, aws_region_name: "evil.test/#" }', '{}', /is not a region/],
  ['{ model: vertex_ai/meta/llama }', '{}', /the models of Google and Anthropic only/],
  ['{ model: unheardof/x }', '{}', /Weir has no provider “unheardof”/],
  ['{ model: triton/x, api_base: http://t }', '{}', /does not speak the API of triton/],
  ['{ model: river }', '{}', /provider of “river” is not known/],
  ['{ model: openai/x, api_base: "https://u:p@acme.test/v1" }', '{}', /api_base must be an address/],
  ['{ model: openai/x, api_base: [1] }', '{}', /api_base must be an address/],
  ['{ model: hosted_vllm/x, api_base: "ftp://x" }', '{}', /api_base must be an address/],
  ['{ model: custom_openai/x }', '{}', /It has no api_base/],
  ['{ model: vertex_ai/gemini-x, vertex_project: "../x" }', '{}', /vertex_project is not the id/],
  ['{ model: openai/whisper-1 }', '{}', /does not seem to be a chat model/],
  ['{ model: openai/x }', '{ mode: image_generation }', /models of the mode “image_generation”/],
  ['{ model: groq/x }', '{ mode: embedding }', /does not support embeddings with providers of the kind groq/],
  ['{ model: mistral/x }', '{ mode: completion }', /does not support completions with .+ mistral/],
  ['{ model: openai/x }', '{ blocked: True }', /is blocked/],
  ['{ model: openai/, api_base: http://h/v1 }', '{}', /“openai\/” names no model/],
  ['{}', '{}', /no litellm_params\.model/],
]

test.each(rejected)('%s with model_info %s is noted and not imported', (params, info, reason) => {
  const { settings, notes } = importYaml(oneModel(params, 'chat', info))
  expect(settings.models).toBeUndefined()
  expect(notes.filter((note) => note.startsWith('model_list[0]: '))).toHaveLength(1)
  expect(notes.join('\n')).toMatch(reason)
})

test('deployments with the same address and key share a provider, and the plainest one has the name of the kind', () => {
  const { settings } = importYaml(`model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, timeout: 20 } }
  - { model_name: b, litellm_params: { model: openai/gpt-4.1 } }
  - { model_name: c, litellm_params: { model: openai/gpt-4.1-mini, api_key: os.environ/OPENAI_API_KEY } }`)
  expect(settings.providers).toEqual({
    'openai-2': { kind: 'openai', timeouts: { first_byte: '20s' } },
    openai: {},
  })
  expect(settings.models?.map(({ routes }) => routes?.[0]?.provider)).toEqual([
    'openai-2',
    'openai',
    'openai',
  ])
})

test('a credential of credential_list is used by the models that name it', () => {
  const { settings, notes } = importYaml(`credential_list:
  - { credential_name: eu, credential_values: { api_base: https://eu.openai.azure.com, api_key: os.environ/EU } }
model_list:
  - { model_name: a, litellm_params: { model: azure/x, litellm_credential_name: eu } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o, litellm_credential_name: us } }`)
  expect(settings.providers?.azure).toEqual({ base_url: 'https://eu.openai.azure.com', api_key: '${EU}' })
  expect(notes.join('\n')).toContain(
    'model_list[1].litellm_params.litellm_credential_name: The credential is not',
  )
})

test('a secret in plain text is never in the settings or the notes, which name a variable for it', () => {
  const secret = 'sk-Abc123Abc123Abc123'
  const { yaml, notes } = importYaml(`model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, api_key: ${secret}1 } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o, api_key: ${secret}2 } }
  - model_name: c
    litellm_params:
      model: vertex_ai/gemini-x
      vertex_credentials: '{"private_key": "${secret}3"}'
      extra_headers: { x-gate: ${secret}4, cookie: abc }
general_settings: { master_key: ${secret}5, database_url: "postgres://u:${secret}6@h/d" }
litellm_settings: { cache_params: { password: ${secret}7 } }
environment_variables: { SOME_KEY: ${secret}8 }`)
  const text = notes.join('\n')
  expect(`${yaml}${text}`).not.toContain(secret)
  expect(yaml).not.toContain('abc')
  expect(text).toContain(
    'model_list[0].litellm_params.api_key: The key in plain text was not copied; set the environment variable OPENAI_API_KEY.',
  )
  expect(text).toContain('set the environment variable OPENAI_2_API_KEY.')
  expect(text).toContain('The secret in the header x-gate was not copied; set VERTEX_X_GATE.')
  expect(yaml).toContain('api_key: ${OPENAI_2_API_KEY}')
  expect(text).toContain('environment_variables.SOME_KEY: ')
})
