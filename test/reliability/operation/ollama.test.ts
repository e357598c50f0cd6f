import { expect, onTestFinished, test } from 'bun:test'
import { toSettings } from '../../../src/config/defaults.ts'
import { localEngines } from '../../../src/providers/config/configure-providers.ts'
import { startApp } from '../../support/app.ts'
import { readCompletion } from '../../support/chat-reply.ts'
import { completionOf, chatOutput } from '../../support/chat-fixtures.ts'

/** What answers at the port of Ollama. */
function startOllama(...models: string[]) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      new URL(url).pathname === '/v1/models'
        ? Response.json({ object: 'list', data: models.map((id) => ({ id })) })
        : Response.json(completionOf(chatOutput())),
  })
  onTestFinished(() => void server.stop(true))
  return `127.0.0.1:${server.port}`
}

const slugs = async (reply: Response) =>
  ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id)

test('the models of a local Ollama are served without any settings', async () => {
  const host = startOllama('llama3.2:latest', 'qwen3:8b')
  await using app = await startApp({ environment: { OLLAMA_HOST: host } })
  expect(await slugs(await app.request('/v1/models'))).toEqual([
    'ollama/llama3.2:latest',
    'ollama/qwen3:8b',
    'weir/echo',
  ])
  expect(app.runtime.configuration().models.engines()).toEqual(['ollama'])
  const messages = [{ role: 'user', content: 'How high is it?' }]
  const reply = await app.chat({ model: 'ollama/qwen3:8b', messages })
  expect(await readCompletion(reply)).toMatchObject({ provider: 'ollama', model: 'ollama/qwen3:8b' })
})

test('a model of Ollama is found without its tag “latest”', async () => {
  const host = startOllama('llama3.2:latest', 'qwen3:8b')
  await using app = await startApp({
    settings: {
      providers: { ollama: { base_url: `http://${host}/v1`, discover: true } },
      models: [{ slug: 'ollama/llama3.2', display_name: 'Llama' }],
    },
  })
  const messages = [{ role: 'user', content: 'How high is it?' }]
  const modelOf = async (model: string) => {
    const reply = await app.chat({ model, messages })
    return ((await reply.json()) as { model?: string; error?: object }).model
  }
  expect(await modelOf('ollama/llama3.2')).toBe('ollama/llama3.2')
  expect(await modelOf('llama3.2:latest')).toBe('ollama/llama3.2:latest')
  expect(await modelOf('qwen3')).toBeUndefined()
  await using plain = await startApp({ environment: { OLLAMA_HOST: host } })
  for (const model of ['ollama/llama3.2', 'llama3.2']) {
    const reply = await plain.chat({ model, messages })
    expect(await readCompletion(reply)).toMatchObject({ model: 'ollama/llama3.2:latest' })
  }
})

test('without an Ollama the log does not mention it, and the built-in model responds', async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response() })
  const host = `127.0.0.1:${server.port}`
  await server.stop(true)
  await using app = await startApp({ environment: { OLLAMA_HOST: host } })
  expect(await slugs(await app.request('/v1/models'))).toEqual(['weir/echo'])
  expect(app.lines).toEqual([])
})

test('an Ollama in the settings takes their configuration, and is not called where discovery is disabled', async () => {
  const host = startOllama('llama3.2:latest')
  const settings = { providers: { ollama: { discover: false }, echo: {} } }
  await using app = await startApp({ settings, environment: { OLLAMA_HOST: host } })
  expect(await slugs(await app.request('/v1/models'))).toEqual(['weir/echo'])
})

test.each([
  [undefined, 'http://127.0.0.1:11434/v1'],
  ['', 'http://127.0.0.1:11434/v1'],
  ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
  [':4000', 'http://127.0.0.1:4000/v1'],
  ['0.0.0.0:4000', 'http://127.0.0.1:4000/v1'],
  ['localhost', 'http://localhost:11434/v1'],
  ['http://[::1]:4000', 'http://[::1]:4000/v1'],
  ['gpu.example', undefined],
  ['http://10.0.0.5:11434', undefined],
  ['127.example.com', undefined],
  ['not a host', undefined],
])('with OLLAMA_HOST %p the Ollama is called at %p', (host, address) => {
  const engines = localEngines(toSettings({}, null), { OLLAMA_HOST: host })
  expect(engines.map(({ baseUrl }) => baseUrl)).toEqual(address === undefined ? [] : [address])
})
