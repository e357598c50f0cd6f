import { expect, test } from 'bun:test'
import { kinds, telemetryNameOf } from '../../../src/providers/kinds/kinds.ts'
import type { RemoteKind } from '../../../src/providers/provider.ts'

function remote(name: string): RemoteKind {
  const kind = kinds[name]
  if (!kind || !('protocol' in kind)) throw new Error(`${name} is no kind of a remote provider`)
  return kind
}

const resource = 'https://example.openai.azure.com'
const version = '2024-10-21'

test.each([
  [resource, undefined, '/openai/v1/chat/completions'],
  [`${resource}/openai`, undefined, '/v1/chat/completions'],
  [`${resource}/openai/v1/`, undefined, '/chat/completions'],
  [resource, version, `/openai/deployments/my-model/chat/completions?api-version=${version}`],
  [`${resource}/openai/deployments/d`, '2024-02-01', '/chat/completions?api-version=2024-02-01'],
  [`${resource}/openai/deployments/d`, undefined, `/chat/completions?api-version=${version}`],
  [
    'https://example.services.ai.azure.com/models',
    undefined,
    '/chat/completions?api-version=2024-05-01-preview',
  ],
])('Azure at %s with api_version %p is called at %s', (baseUrl, apiVersion, path) => {
  expect(remote('azure').path({ model: 'my-model', stream: false }, { baseUrl, apiVersion })).toBe(path)
})

test('Azure receives its key as api-key and the others as a bearer token', () => {
  expect(remote('azure').authorize('k')).toEqual({ 'api-key': 'k' })
  expect(remote('groq').authorize('k')).toEqual({ authorization: 'Bearer k' })
})

test('every kind has its own name, and a base URL unless the operator must set it', () => {
  const input = ['azure', 'vertex', 'vertex-anthropic', 'snowflake', 'bedrock', 'openai-compatible']
  for (const [name, kind] of Object.entries(kinds)) {
    expect(kind.name).toBe(name)
    if ('protocol' in kind && kind.baseUrl === undefined) expect(input).toContain(name)
  }
})

test('self-hosted engines need no key; services name the variable of their key', () => {
  for (const name of ['ollama', 'lmstudio', 'vllm', 'llamacpp', 'openai-compatible']) {
    expect(remote(name)).toMatchObject({ keyless: true, keyVariables: [] })
  }
  expect(remote('openai')).toMatchObject({ keyVariables: ['OPENAI_API_KEY'] })
  expect(remote('openai').keyless).toBeUndefined()
})

test('a kind goes by the name that OpenTelemetry has for it, or else by its own', () => {
  const names = Object.keys(kinds).map((kind) => [kind, telemetryNameOf(kind)] as const)
  expect(Object.fromEntries(names.filter(([kind, name]) => name !== kind))).toEqual({
    azure: 'azure.ai.openai',
    bedrock: 'aws.bedrock',
    gemini: 'gcp.gemini',
    mistral: 'mistral_ai',
    vertex: 'gcp.vertex_ai',
    'vertex-anthropic': 'gcp.vertex_ai',
    xai: 'x_ai',
  })
  expect(telemetryNameOf('unheard-of')).toBe('unheard-of')
})
