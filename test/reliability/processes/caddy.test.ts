import { describe, expect, onTestFinished, test } from 'bun:test'
import OpenAI from 'openai'
import { Secret } from '../../../src/lib/secret.ts'
import { firstKey } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { chunks, delta, doneFrame, jsonReply } from '../../support/chat-fixtures.ts'
import { databaseEnvironment } from '../../support/database-connection.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { createUpstream } from '../../support/upstream.ts'
import { temporaryHome } from '../../unit/config/support/temporary-home.ts'
import { openaiRequest } from '../../clients/support/openai-client.ts'
import { type Serving, startServing } from '../load/program.ts'
import { caddyNote, caddyProgram, startCaddy } from './support/caddy.ts'

/** Three times `weir serve` on one PostgreSQL database, and Caddy in front of them. */
async function startSite() {
  const upstream = await createUpstream(jsonReply())
  onTestFinished(() => upstream[Symbol.asyncDispose]())
  const database = new Secret(await (await sharedPostgres()).createDatabase())
  const routes = [{ provider: 'acme', model: 'river-1' }]
  const home = temporaryHome({
    'weir.yaml': JSON.stringify({
      providers: { acme: { kind: 'openai-compatible', base_url: upstream.url, api_key: 'sk-provider' } },
      models: [{ slug: 'acme/river', routes }],
      retries: { attempts: 0 },
    }),
  })
  onTestFinished(() => home[Symbol.dispose]())
  const environment = {
    HOME: home.place('home'),
    WEIR_CONFIG: home.place('weir.yaml'),
    WEIR_BOOTSTRAP_KEY: firstKey,
    ...databaseEnvironment(database),
  }
  const serve = async (port = '0') => {
    const flags = ['--host', '127.0.0.1', '--port', port]
    const serving = await startServing(['src/main.ts', 'serve', ...flags], environment, 'ignore')
    onTestFinished(() => serving[Symbol.asyncDispose]())
    return serving
  }
  const servers = await Promise.all([serve(), serve(), serve()])
  const caddy = await startCaddy(servers.map(({ url }) => url))
  onTestFinished(() => caddy[Symbol.asyncDispose]())
  const client = (maxRetries: number) =>
    new OpenAI({ baseURL: `${caddy.url}/v1`, apiKey: firstKey, maxRetries })
  return { upstream, servers, client, restart: ({ url }: Serving) => serve(new URL(url).port) }
}

/** The chat completions that a server has served, and those that are open. */
async function countChats({ url }: Serving): Promise<{ readonly served: number; readonly open: number }> {
  const text = await (await fetch(`${url}/metrics`, { keepalive: false })).text()
  const sum = (pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0)
  return {
    served: sum(/^weir_requests_total\{[^}]*\} (\d+)$/gm),
    open: sum(/^weir_in_flight\{kind="calls"\} (\d+)$/gm),
  }
}

type Stream = AsyncIterator<{
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[]
}>

async function nextText(stream: Stream): Promise<string> {
  for (;;) {
    const { value, done } = await stream.next()
    if (done === true) return ''
    const text = value.choices[0]?.delta.content
    if (text) return text
  }
}

describe.skipIf(caddyProgram === undefined || !hasPostgres)(`three servers behind Caddy${caddyNote}`, () => {
  test('stream each piece at once, and one that is killed or stopped is taken out and back', async () => {
    const { upstream, servers, client, restart } = await startSite()
    const [two, three] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    upstream.respondWith(
      chunks([
        delta({ role: 'assistant', content: 'one' }),
        two.promise,
        delta({ content: 'two' }),
        three.promise,
        delta({ content: 'three' }),
        delta({}, 'stop'),
        doneFrame,
      ]),
    )
    const open = async () => {
      const stream = await client(0).chat.completions.create({ ...openaiRequest, stream: true })
      return stream[Symbol.asyncIterator]()
    }
    const streams: Stream[] = [await open(), await open(), await open()]
    // The provider waits until each client has the piece before: nothing is buffered on the way.
    expect(await Promise.all(streams.map(nextText))).toEqual(['one', 'one', 'one'])
    expect(await Promise.all(servers.map(async (server) => (await countChats(server)).open))).toEqual([
      1, 1, 1,
    ])
    two.resolve()
    expect(await Promise.all(streams.map(nextText))).toEqual(['two', 'two', 'two'])

    const [killed, stopped] = servers
    process.kill(killed.pid, 'SIGKILL')
    const ends = streams.map((stream) => nextText(stream).catch(() => 'broken'))
    expect(await Promise.race(ends)).toBe('broken')
    upstream.respondWith(jsonReply())
    const send = (maxRetries: number) => client(maxRetries).chat.completions.create(openaiRequest)
    // Not one of them reaches a client as an error.
    for (let index = 0; index < 12; index++) await send(0)

    const replaced = await restart(killed)
    const isBack = async () => {
      await send(0)
      return (await countChats(replaced)).served > 0
    }
    await waitUntil(isBack, 'the server receives requests again')

    const exited = stopped.stop()
    // Until the proxy has noticed, some calls get 503 with `retry-after`, and are repeated by the client.
    for (let index = 0; index < 12; index++) await send(2)
    three.resolve()
    expect((await Promise.all(ends)).toSorted()).toEqual(['broken', 'three', 'three'])
    expect(await exited).toBe(0)
    for (let index = 0; index < 12; index++) await send(0)
  }, 120_000)
})
