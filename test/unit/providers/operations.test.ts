import { describe, expect, test } from 'bun:test'
import { kinds } from '../../../src/providers/kinds/kinds.ts'
import type { RemoteKind } from '../../../src/providers/provider.ts'

const remote = Object.values(kinds).filter((kind): kind is RemoteKind => 'protocol' in kind)
const target = { model: 'my/model 1', stream: false }

function pathsOf(operation: 'embedding' | 'completion', baseUrl = 'https://a.test') {
  return Object.fromEntries(
    remote.flatMap(({ name, operations }) => {
      const offered = operations?.[operation]
      return offered ? [[name, offered.path(target, { baseUrl })]] : []
    }),
  )
}

test('these kinds offer embeddings, at these paths', () => {
  const path = '/embeddings'
  expect(pathsOf('embedding')).toEqual({
    openai: path,
    openrouter: path,
    mistral: path,
    together: path,
    fireworks: path,
    zai: path,
    ollama: path,
    lmstudio: path,
    vllm: path,
    llamacpp: path,
    'openai-compatible': path,
    gemini: '/my/model%201:batchEmbedContents',
    azure: '/openai/v1/embeddings',
  })
})

test('these kinds offer completions, at these paths', () => {
  const path = '/completions'
  expect(pathsOf('completion')).toEqual({
    openai: path,
    openrouter: path,
    together: path,
    fireworks: path,
    ollama: path,
    lmstudio: path,
    vllm: path,
    llamacpp: path,
    'openai-compatible': path,
  })
})

describe('Azure serves embeddings', () => {
  const resource = 'https://example.openai.azure.com'
  test.each([
    [resource, '2024-10-21', '/openai/deployments/d/embeddings?api-version=2024-10-21'],
    [`${resource}/openai/deployments/d`, undefined, '/embeddings?api-version=2024-10-21'],
    [`${resource}/openai/v1`, undefined, '/embeddings'],
    ['https://example.services.ai.azure.com/models', undefined, '/embeddings?api-version=2024-05-01-preview'],
  ])('at %s with api_version %p below %s', (baseUrl, apiVersion, path) => {
    const azure = remote.find(({ name }) => name === 'azure')
    expect(azure?.operations?.embedding?.path({ model: 'd', stream: false }, { baseUrl, apiVersion })).toBe(
      path,
    )
  })
})
