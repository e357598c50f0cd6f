import { expect, test } from 'bun:test'
import { finished, responseStorage } from '../../unit/storage/support/response-fixture.ts'

const actions = ['start', 'finish', 'remove'] as const
type Action = (typeof actions)[number]
const orders: readonly Action[][] = actions.flatMap((first) =>
  actions
    .filter((second) => second !== first)
    .map((second) => [first, second, ...actions.filter((third) => third !== first && third !== second)]),
)

const outcomes: Readonly<Record<string, Readonly<Record<Action, unknown>>>> = {
  'start,finish,remove': { start: true, finish: true, remove: 'removed' },
  'start,remove,finish': { start: true, finish: true, remove: 'running' },
  'finish,start,remove': { start: false, finish: true, remove: 'removed' },
  'finish,remove,start': { start: false, finish: true, remove: 'removed' },
  'remove,start,finish': { start: true, finish: true, remove: 'running' },
  'remove,finish,start': { start: false, finish: true, remove: 'running' },
}

test.each(orders)('concurrent changes of a queued run are applied in turn: %s, %s, %s', async (...order) => {
  const { responses, start, append, acme, queued, rows, pieces, finish } = await responseStorage()
  const id = await queued()
  const end = { status: 'completed', log: '["all"]\n' } as const
  const act = {
    start: () => start(acme, id),
    finish: () => finish(acme, id, end),
    remove: () => responses.remove(acme, id),
  }
  // A piece between all of them: only one that comes while it runs is kept, and none behind the end.
  const done = order.map(async (action, position) => {
    const outcome = act[action]()
    await append(acme, id, position, `[${position}]\n`)
    return [action, await outcome]
  })
  const expected = outcomes[order.join()]!
  expect(Object.fromEntries(await Promise.all(done))).toEqual(expected)
  expect(pieces()).toEqual([])
  expect(rows()).toEqual(expected.remove === 'removed' ? [] : [id])
  if (expected.remove === 'running')
    expect(await responses.find(acme, id)).toMatchObject({ status: 'completed', log: '["all"]\n' })
})

test('one of two concurrent removals succeeds, and a response that continues from it in between keeps it', async () => {
  const { responses, acme, answered: replied, insert, rows } = await responseStorage()
  const id = await replied()
  const follower = finished(acme, id)
  const removals = [insert(follower), responses.remove(acme, id), responses.remove(acme, id)]
  expect(await Promise.all(removals)).toEqual([undefined, 'removed', 'missing'])
  expect(rows()).toEqual([id, follower.id])
})

test('retention and a removal of the same response remove it once', async () => {
  const { responses, acme, answered: replied, rows } = await responseStorage()
  const id = await replied()
  const later = Date.now() + 1000
  expect(await Promise.all([responses.expire(later), responses.remove(acme, id)])).toEqual([1, 'missing'])
  expect(rows()).toEqual([])
})
