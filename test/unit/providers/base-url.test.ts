import { expect, test } from 'bun:test'
import { toSettings } from '../../../src/config/defaults.ts'
import { configure } from '../../../src/gateway/configuration.ts'
import { createLog } from '../../../src/lib/log.ts'
import { alternativeBaseUrls, withoutEndpoint } from '../../../src/providers/config/base-url.ts'
import type { RemoteKind } from '../../../src/providers/provider.ts'
import { kindNamed } from '../gateway/support/model-fixtures.ts'

const vllm = kindNamed('vllm') as RemoteKind
const azure = kindNamed('azure') as RemoteKind
const anthropic = kindNamed('anthropic') as RemoteKind

test.each([
  ['http://gpu:8000/v1', vllm, 'http://gpu:8000/v1'],
  ['http://gpu:8000/v1/chat/completions', vllm, 'http://gpu:8000/v1'],
  ['http://gpu:8000/v1/models', vllm, 'http://gpu:8000/v1'],
  ['http://gpu:8000/v1/chat/completions/chat/completions', vllm, 'http://gpu:8000/v1'],
  ['http://gpu:8000/chatcompletions', vllm, 'http://gpu:8000/chatcompletions'],
  ['https://api.anthropic.com/v1/messages', anthropic, 'https://api.anthropic.com'],
  ['https://r.services.ai.azure.com/models', azure, 'https://r.services.ai.azure.com/models'],
  [
    'https://r.services.ai.azure.com/models/chat/completions',
    azure,
    'https://r.services.ai.azure.com/models',
  ],
  ['https://r.openai.azure.com/openai/v1/chat/completions', azure, 'https://r.openai.azure.com/openai/v1'],
  ['https://r.openai.azure.com/openai/v1/models', azure, 'https://r.openai.azure.com/openai/v1'],
])('the intended base URL is found within %s', (baseUrl, kind, meant) => {
  expect(withoutEndpoint(baseUrl, kind)).toBe(meant)
})

test.each(['http://gpu:8000', 'http://gpu:8000/v1/chat/completions', 'https://[::1]:9/a/v1'])(
  'the alternative base URLs of %s have the same host and differ from it',
  (baseUrl) => {
    const others = alternativeBaseUrls(baseUrl, vllm)
    expect(others).not.toContain(baseUrl)
    expect(others.length).toBeLessThanOrEqual(6)
    expect(new Set(others.map((other) => new URL(other).origin))).toEqual(new Set([new URL(baseUrl).origin]))
  },
)

test('a server with an unusual base URL warns of it in its log, without its key', () => {
  const lines: string[] = []
  const providers = {
    box: { kind: 'vllm', base_url: 'http://gpu:8000/v1/chat/completions', api_key: 'sk-canary' },
  }
  const log = createLog((line) => void lines.push(line))
  configure({ settings: toSettings({ providers }, null), file: null, environment: {} }, log)
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'warn',
      message:
        'The setting providers.box.base_url ends with an endpoint path, which Weir appends itself. Use http://gpu:8000/v1.',
    }),
  ])
})
