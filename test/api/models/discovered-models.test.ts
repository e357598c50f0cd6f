import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'

/** An engine that lists its models when it is let. */
function startEngine() {
  const listing = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch() {
      await listing.promise
      return Response.json({ object: 'list', data: [{ id: 'river-9b', object: 'model' }] })
    },
  })
  return { url: server.url.href, list: listing.resolve, [Symbol.dispose]: () => void server.stop(true) }
}

const settingsFor = (url: string) => ({
  providers: { box: { kind: 'vllm', base_url: `${url}v1`, discover: true } },
})

test('the models that a local engine lists are enabled once the gateway has started', async () => {
  using engine = startEngine()
  engine.list()
  await using app = await startApp({ settings: settingsFor(engine.url) })
  const list = (await (await app.request('/v1/models')).json()) as { data: { id: string }[] }
  expect(list.data.map(({ id }) => id)).toEqual(['box/river-9b'])
})

test('an engine whose listing is slow does not delay the start, and its models are added later', async () => {
  using engine = startEngine()
  await using app = await startApp({ settings: settingsFor(engine.url) })
  expect((await app.request('/v1/models/box/river-9b')).status).toBe(404)
  engine.list()
  const shown = async () => (await app.request('/v1/models/box/river-9b')).status
  while ((await shown()) !== 200) await Bun.sleep(10)
})
