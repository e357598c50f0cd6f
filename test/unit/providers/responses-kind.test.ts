import { expect, test } from 'bun:test'
import type { ProviderSettings } from '../../../src/config/provider-settings.ts'
import { configureProviders } from '../../../src/providers/config/configure-providers.ts'
import { kinds } from '../../../src/providers/kinds/kinds.ts'
import { hasResponsesApi } from '../../../src/providers/kinds/responses.ts'
import { responses } from '../../../src/providers/protocols/responses/protocol.ts'

function configure(entry: ProviderSettings) {
  const { configured, problems } = configureProviders({ providers: { mine: { api_key: 'k', ...entry } } }, {})
  const provider = configured.get('mine')
  if (!provider || !('protocol' in provider.kind)) return { problems }
  const { baseUrl, kind } = provider
  const url = baseUrl + kind.path({ model: 'my-model', stream: true }, provider)
  return { url, wire: kind.protocol, headers: kind.authorize('k'), problems }
}

const azure = 'https://example.openai.azure.com'

test.each<[string, ProviderSettings, string]>([
  ['openai', {}, 'https://api.openai.com/v1/responses'],
  ['openai', { base_url: 'https://bedrock.test/openai/v1/' }, 'https://bedrock.test/openai/v1/responses'],
  ['xai', {}, 'https://api.x.ai/v1/responses'],
  ['deepseek', {}, 'https://api.deepseek.com/responses'],
  ['openrouter', {}, 'https://openrouter.ai/api/v1/responses'],
  ['azure', { base_url: azure }, `${azure}/openai/v1/responses`],
  ['azure', { base_url: azure, api_version: '2024-10-21' }, `${azure}/openai/v1/responses`],
  ['azure', { base_url: `${azure}/openai/v1` }, `${azure}/openai/v1/responses`],
])('%s with %p speaks the Responses API at %s', (kind, entry, url) => {
  expect(configure({ kind, api: 'responses', ...entry })).toMatchObject({
    url,
    wire: responses,
    problems: [],
  })
})

test('the Responses API receives the key as the kind defines it', () => {
  expect(configure({ kind: 'azure', api: 'responses', base_url: azure }).headers).toEqual({ 'api-key': 'k' })
  expect(configure({ kind: 'xai', api: 'responses' }).headers).toEqual({ authorization: 'Bearer k' })
})

test.each([undefined, 'chat'] as const)('with api %p a provider speaks chat completions', (api) => {
  const { url, wire: protocol } = configure({ kind: 'openai', api })
  expect(url).toBe('https://api.openai.com/v1/chat/completions')
  expect(protocol).not.toBe(responses)
})

test('a kind without a Responses API rejects the setting', () => {
  const { problems } = configure({ kind: 'mistral', api: 'responses' })
  expect(problems).toMatchObject([{ path: 'providers.mine.api' }])
})

test('the kinds that accept the setting exist', () => {
  const names = Object.values(kinds).flatMap((kind) => (hasResponsesApi(kind) ? [kind.name] : []))
  expect(names.toSorted()).toEqual([
    'azure',
    'bedrock',
    'deepseek',
    'fireworks',
    'groq',
    'huggingface',
    'llamacpp',
    'lmstudio',
    'ollama',
    'openai',
    'openai-compatible',
    'openrouter',
    'vllm',
    'xai',
  ])
})
