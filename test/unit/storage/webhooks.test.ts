import { expect, test } from 'bun:test'
import type { EndpointFilter, Webhooks } from '../../../src/storage/ports/webhooks.ts'
import { type TestStore, testStores, valuesOf } from './support/stores.ts'

const day = 86_400_000

const filter = (name: string, ...events: readonly string[]): EndpointFilter => ({
  name,
  events: new Set(events),
})

/** Writes this many events, alternately of an outage and of its end. */
async function writeEvents(webhooks: Webhooks, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    if (index % 2 === 0) await webhooks.providerDown('acme', '{"provider":"acme"}')
    else await webhooks.providerUp('acme', (since) => JSON.stringify({ since }))
}

async function drained(webhooks: Webhooks, endpoints: readonly EndpointFilter[], maxPending = 100) {
  let omitted = 0
  for (let routed; (routed = await webhooks.route(endpoints, maxPending)).events > 0;)
    omitted += routed.omitted
  return omitted
}

async function statusesOf(store: TestStore): Promise<unknown[]> {
  return (await valuesOf(store, 'SELECT status FROM webhook_deliveries ORDER BY event_id')).flat()
}

/** The endpoint that wants the events of these tests. */
const a = filter('a', 'provider.down', 'provider.up')

const failed = { status: 'pending', nextAt: 0, responseStatus: 500, error: 'No.' } as const

testStores((open) => {
  test('an outage is one event, however often it is noticed, and so is its end', async () => {
    const { webhooks } = await open()
    const notice = () => webhooks.providerDown('acme', '{}')
    await Promise.all([notice(), notice(), notice()])
    expect([...(await webhooks.outages()).keys()]).toEqual(['acme'])
    const end = () => webhooks.providerUp('acme', () => '{}')
    await Promise.all([end(), end()])
    await drained(webhooks, [filter('a', 'provider.down', 'provider.up')])
    const { items } = await webhooks.list({ limit: 10, order: 'asc' })
    expect(items.map(({ type, status }) => [type, status])).toEqual([
      ['provider.down', 'pending'],
      ['provider.up', 'pending'],
    ])
    expect((await webhooks.outages()).size).toBe(0)
  })

  test('an event gets a delivery for each endpoint that wants it, once', async () => {
    const store = await open()
    const { webhooks } = store
    await writeEvents(webhooks, 2)
    const endpoints = [filter('a', 'provider.down'), filter('b', 'provider.down', 'provider.up'), filter('c')]
    expect((await webhooks.due(['a', 'b'])).unrouted).toBe(true)
    await Promise.all([drained(webhooks, endpoints), drained(webhooks, endpoints)])
    const rows = await valuesOf(store, 'SELECT endpoint FROM webhook_deliveries ORDER BY endpoint')
    expect(rows.flat()).toEqual(['a', 'b', 'b'])
    const { unrouted, endpoints: due } = await webhooks.due(['a', 'b', 'c'])
    expect([unrouted, due.toSorted()]).toEqual([false, ['a', 'b']])
  })

  test('a delivery is claimed by one process, and due again when that has died', async () => {
    const { webhooks } = await open()
    await writeEvents(webhooks, 4)
    await drained(webhooks, [filter('a', 'provider.down', 'provider.up')])
    const claims = await Promise.all([webhooks.claim(a, 3, day), webhooks.claim(a, 3, day)])
    const ids = claims.flat().map(({ event }) => event.id)
    expect([ids.length, new Set(ids).size]).toEqual([4, 4])
    expect(await webhooks.claim(a, 3, day)).toEqual([])
    expect((await webhooks.due(['a'])).endpoints).toEqual([])
  })

  test('a claim that has run out is repeated with the same event, and its late failure changes nothing', async () => {
    const store = await open()
    const { webhooks } = store
    await writeEvents(webhooks, 1)
    await drained(webhooks, [filter('a', 'provider.down')])
    const [first] = await webhooks.claim(a, 1, -1)
    const [second] = await webhooks.claim(a, 1, day)
    expect([first?.attempt, second?.attempt, second?.event]).toEqual([1, 2, first?.event as never])
    const key = { event: first?.event.id ?? '', endpoint: 'a' }
    await webhooks.record(key, 2, { ...failed, status: 'delivered', error: null })
    await webhooks.record(key, 1, failed)
    expect(await statusesOf(store)).toEqual(['delivered'])
  })

  test('a success that comes after its claim has run out still counts', async () => {
    const store = await open()
    const { webhooks } = store
    await writeEvents(webhooks, 1)
    await drained(webhooks, [a])
    const [first] = await webhooks.claim(a, 1, -1)
    await webhooks.claim(a, 1, day)
    const key = { event: first?.event.id ?? '', endpoint: 'a' }
    await webhooks.record(key, 1, { ...failed, status: 'delivered', error: null })
    expect(await statusesOf(store)).toEqual(['delivered'])
  })

  test('an attempt that fails after its delivery was retried by hand does not count for the new one', async () => {
    const store = await open()
    const { webhooks } = store
    await writeEvents(webhooks, 1)
    await drained(webhooks, [a])
    const [first] = await webhooks.claim(a, 1, day)
    const key = { event: first?.event.id ?? '', endpoint: 'a' }
    await webhooks.retry(key)
    const [second] = await webhooks.claim(a, 1, day)
    expect([first?.attempt, second?.attempt]).toEqual([1, 2])
    await webhooks.record(key, 1, { ...failed, status: 'dead' })
    expect(await statusesOf(store)).toEqual(['pending'])
  })

  test('what an endpoint no longer wants is dead, and not sent to its new address', async () => {
    const store = await open()
    const { webhooks } = store
    await writeEvents(webhooks, 3)
    await drained(webhooks, [a])
    const ofAcme = { ...a, organization: 'acme' }
    expect(await webhooks.claim(ofAcme, 2, day)).toEqual([])
    expect(await statusesOf(store)).toEqual(['dead', 'dead', 'dead'])
    await webhooks.retryDead('a')
    const claimed = await webhooks.claim(filter('a', 'provider.up'), 3, day)
    expect(claimed.map(({ event }) => event.type)).toEqual(['provider.up'])
    expect((await statusesOf(store)).toSorted()).toEqual(['dead', 'dead', 'pending'])
  })

  test('an endpoint has a limited number of pending deliveries; further events are left out', async () => {
    const store = await open()
    const { webhooks } = store
    await writeEvents(webhooks, 5)
    expect(await drained(webhooks, [filter('a', 'provider.down', 'provider.up')], 3)).toBe(2)
    expect(await statusesOf(store)).toEqual(['pending', 'pending', 'pending'])
    expect(await valuesOf(store, 'SELECT id FROM webhook_events')).toHaveLength(3)
    expect((await webhooks.counts()).get('a')).toEqual({ pending: 3, dead: 0 })
  })

  test('dead deliveries are listed, counted and delivered once more', async () => {
    const store = await open()
    const { webhooks } = store
    await writeEvents(webhooks, 3)
    await drained(webhooks, [filter('a', 'provider.down', 'provider.up')])
    await webhooks.abandon('a', 'Gone.')
    const query = { limit: 2, order: 'desc', status: 'dead' } as const
    const page = await webhooks.list(query)
    const last = page.items.at(-1)
    const next = await webhooks.list({ ...query, after: `${last?.event}:a` })
    expect([page.items.length, page.hasMore, next.items.length, next.hasMore]).toEqual([2, true, 1, false])
    expect((await webhooks.counts()).get('a')).toEqual({ pending: 0, dead: 3 })
    const key = { event: last?.event ?? '', endpoint: 'a' }
    expect(await webhooks.retry(key)).toMatchObject({ status: 'pending', attempts: 0 })
    expect(await webhooks.retry({ ...key, endpoint: 'b' })).toBeUndefined()
    expect([await webhooks.retryDead('b'), await webhooks.retryDead('a')]).toEqual([0, 2])
  })

  test('delivered events are deleted after three days, and all others after thirty', async () => {
    const store = await open()
    const { webhooks, later } = { ...store, later: store.webhooksAt }
    await writeEvents(webhooks, 3)
    await drained(webhooks, [filter('a', 'provider.down')])
    // That of the end of the outage is wanted by no endpoint.
    expect((await valuesOf(store, 'SELECT id FROM webhook_events')).length).toBe(2)
    const [claimed] = await webhooks.claim(a, 1, day)
    const key = { event: claimed?.event.id ?? '', endpoint: 'a' }
    await webhooks.record(key, 1, { ...failed, status: 'delivered', error: null })
    const eventsAfter = async (days: number) => {
      const now = Date.now() + days * day
      while ((await later(() => now).expire()) > 0);
      return (await valuesOf(store, 'SELECT type FROM webhook_events ORDER BY id')).flat()
    }
    expect(await eventsAfter(2)).toHaveLength(2)
    expect(await eventsAfter(4)).toEqual(['provider.down'])
    expect(await eventsAfter(31)).toEqual([])
  })
})
