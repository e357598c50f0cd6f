import { expect, test } from 'bun:test'
import { elapsedOf, LiveFeed } from '../../src/page/views/live/live-feed.ts'

const event = (type: string, request: string, more: object = {}) => ({
  event: type,
  data: JSON.stringify({ request, model: 'acme/river', ...more }),
})

test('a request goes from start to end, and its time counts from its start at the gateway', () => {
  const feed = new LiveFeed()
  feed.apply(event('start', 'a', { elapsed_ms: 400 }), 1000)
  expect(feed.rows().map((row) => elapsedOf(row, 1100))).toEqual([500])
  feed.apply(event('first_token', 'a', { elapsed_ms: 450, provider: 'acme' }), 1050)
  expect(feed.rows()).toMatchObject([{ firstTokenMs: 450, provider: 'acme', end: null }])
  feed.apply(event('end', 'a', { elapsed_ms: 700, status: 200, cost_usd: '0.000000001' }), 1300)
  expect(feed.rows()).toMatchObject([{ end: { status: 200, cost_usd: '0.000000001' }, firstTokenMs: 450 }])
  expect([feed.open, feed.rows().map((row) => elapsedOf(row, 9999))]).toEqual([0, [700]])
})

test('a request is queued from one event to the next', () => {
  const feed = new LiveFeed()
  feed.apply(event('start', 'a'))
  feed.apply(event('queued', 'a', { provider: 'acme' }))
  expect(feed.rows()).toMatchObject([{ queued: true, provider: 'acme', end: null }])
  feed.apply(event('dequeued', 'a', { provider: null }))
  expect(feed.rows()).toMatchObject([{ queued: false, provider: null, firstTokenMs: null }])
  feed.apply(event('queued', 'unknown'))
  expect(feed.open).toBe(1)
})

test('requests in progress come first, each part from new to old, and a rejected one needs no start', () => {
  const feed = new LiveFeed()
  for (const id of ['a', 'b', 'c']) feed.apply(event('start', id))
  feed.apply(event('end', 'a', { status: 200 }))
  feed.apply(event('end', 'x', { status: 429, error: 'rate_limit_exceeded' }))
  expect(feed.rows().map(({ request }) => request)).toEqual(['c', 'b', 'x', 'a'])
  feed.restart()
  expect(feed.rows().map(({ request }) => request)).toEqual(['x', 'a'])
})

test('the lists are bounded, and dropped events are counted', () => {
  const feed = new LiveFeed()
  for (let index = 0; index < 10_000; index++) feed.apply(event('start', `s${index}`))
  for (let index = 0; index < 1000; index++) feed.apply(event('end', `e${index}`, { status: 200 }))
  feed.apply({ event: 'dropped', data: '{"events":7}' })
  feed.apply({ event: 'dropped', data: '{"events":5}' })
  feed.apply({ event: '', data: '' })
  const rows = feed.rows()
  expect([feed.open, rows.length, feed.dropped]).toEqual([2000, 2500, 12])
  expect([rows[0]?.request, rows.at(-1)?.request]).toEqual(['s9999', 'e500'])
  expect(new Set(rows.map(({ sequence }) => sequence)).size).toBe(2500)
})
