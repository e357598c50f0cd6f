import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProviderSettings } from '../../../src/config/provider-settings.ts'
import { post } from '../../../src/gateway/streams/upstream-request.ts'
import { configureProviders } from '../../../src/providers/config/configure-providers.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { keyFile, tokenReply, tokenServer } from '../gateway/support/token-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-vertex-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(content: unknown): string {
  const path = join(folder, `${Bun.hash(JSON.stringify(content))}.json`)
  writeFileSync(path, JSON.stringify(content))
  return path
}

function configure(entry: ProviderSettings, environment: Record<string, string> = {}) {
  const { configured, missing, problems } = configureProviders({ providers: { vertex: entry } }, environment)
  const sentences = problems.map(({ path, message }) => `${path} | ${message}`)
  return { provider: configured.get('vertex'), missing: missing.get('vertex'), problems: sentences }
}

const place = { project: 'my-project-1', location: 'europe-west4' }

describe('a Google Cloud project', () => {
  test.each([
    ['europe-west4', 'europe-west4-aiplatform.googleapis.com'],
    ['global', 'aiplatform.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
  ])('in %s has the host %s', (location, host) => {
    const { provider, problems } = configure({ ...place, location, api_key: 'token' })
    expect(problems).toEqual([])
    expect(provider?.baseUrl).toBe(`https://${host}/v1/projects/my-project-1/locations/${location}`)
    expect(provider?.key?.reveal()).toBe('token')
    expect(provider?.credentials).toBeUndefined()
  })

  test('has the base_url of the settings, if there is one', () => {
    const base_url = 'https://proxy.test/v1/projects/p/locations/l'
    expect(configure({ ...place, base_url, api_key: 'token' }).provider?.baseUrl).toBe(base_url)
  })

  test('without a key reports what to set, also without a base URL', () => {
    expect(configure(place)).toMatchObject({
      missing: 'Set credentials or api_key of providers.vertex in weir.yaml.',
      problems: [],
    })
    expect(configure({ project: 'p', api_key: 'token' }).problems).toEqual([
      'providers.vertex.base_url | is missing: a provider of kind vertex has no default base_url. Set base_url, or project and location.',
    ])
  })

  test.each<[string, ProviderSettings, RegExp]>([
    ['a project that is no word', { ...place, project: 'a/../b' }, /^providers\.vertex\.project \| /],
    [
      'a location that is no word',
      { ...place, location: 'x.evil.test/' },
      /^providers\.vertex\.location \| /,
    ],
    [
      'a file that is not there',
      { ...place, credentials: '/nowhere/a.json' },
      /credentials \| is not a readable file/,
    ],
    [
      'a file of another kind',
      { ...place, credentials: fileOf({ type: 'authorized_user', refresh_token: 'canary' }) },
      /credentials \| must be the JSON key file of a service account\.$/,
    ],
    [
      'a key that is none',
      {
        ...place,
        credentials: fileOf({ type: 'service_account', client_email: 'a', private_key: 'canary' }),
      },
      /credentials \| must be the JSON key file/,
    ],
    [
      'two keys',
      { ...place, api_key: 'k', credentials: '/a.json' },
      /credentials \| is set together with api_key/,
    ],
  ])('with %s is invalid', (_name, entry, problem) => {
    const { provider, problems } = configure({ api_key: entry.credentials ? undefined : 'k', ...entry })
    expect(provider).toBeUndefined()
    expect(problems[0]).toMatch(problem)
    expect(problems.join()).not.toContain('canary')
  })
})

describe('a service account', () => {
  async function authorizationOf(provider: Provider | undefined): Promise<string | null> {
    if (!provider || !('protocol' in provider.kind)) throw new Error('vertex is not configured')
    using upstream = Bun.serve({
      port: 0,
      fetch: (request) => new Response(request.headers.get('authorization')),
    })
    const there = { ...provider, baseUrl: upstream.url.origin }
    const target = { model: 'gemini-2.5-flash', stream: false }
    const { signal } = new AbortController()
    const response = await post({ provider: there, kind: provider.kind, target, body: '{}', signal })
    return response.text()
  }

  test('from the settings or the usual variable provides the bearer token of a call', async () => {
    using server = tokenServer(() => tokenReply('token-1'))
    const credentials = fileOf(keyFile(server.account))
    for (const [entry, environment] of [
      [{ ...place, credentials }, {}],
      [place, { GOOGLE_APPLICATION_CREDENTIALS: credentials }],
    ] as const) {
      const { provider, problems } = configure(entry, environment)
      expect(problems).toEqual([])
      expect(await authorizationOf(provider)).toBe('Bearer token-1')
    }
    expect(server.asked.every(({ genuine }) => genuine)).toBe(true)
  })

  test('is not used where the call has a key', async () => {
    using server = tokenServer(() => tokenReply('token-1'))
    const environment = { GOOGLE_APPLICATION_CREDENTIALS: fileOf(keyFile(server.account)) }
    expect(await authorizationOf(configure({ ...place, api_key: 'own' }, environment).provider)).toBe(
      'Bearer own',
    )
    const headers = { authorization: 'Bearer header' }
    expect(await authorizationOf(configure({ ...place, headers }, environment).provider)).toBe(
      'Bearer header',
    )
    expect(server.asked).toEqual([])
  })
})
