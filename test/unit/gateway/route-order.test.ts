import { expect, test } from 'bun:test'
import type { ModelRoute } from '../../../src/gateway/models/model.ts'
import { drawRoutes, rankRoutes, sharesByWeight } from '../../../src/gateway/routing/route-order.ts'
import { provider } from './support/model-fixtures.ts'

function routes(...weights: (number | undefined)[]) {
  return weights.map((weight, index) => ({
    provider: provider('alpha'),
    model: 'abcd'.charAt(index),
    weight,
  }))
}

function order(random: number, ...weights: (number | undefined)[]): string {
  return orderWithout('', random, ...weights)
}

/** The order while the routes to these models are out. */
function orderWithout(out: string, random: number, ...weights: (number | undefined)[]): string {
  const isOut = ({ model }: ModelRoute) => out.includes(model)
  return drawRoutes(routes(...weights), isOut, () => random)
    .map(({ model }) => model)
    .join('')
}

test.each([
  [0, [undefined, undefined, undefined], 'abc'],
  [0.99, [undefined, undefined, undefined], 'abc'],
  [0, [1, 3], 'ab'],
  [0.24, [1, 3], 'ab'],
  [0.25, [1, 3], 'ba'],
  [0.999, [1, 3], 'ba'],
  [0.5, [0, 1, 0], 'bac'],
  [0.99, [1, undefined], 'ba'],
  [0.99, [1, 1, 1, 1], 'dabc'],
  [0.5, [0, 0], 'ab'],
  [0.5, [7], 'a'],
  [0.5, [], ''],
])(
  'with the random number %d, routes of the weights %j are tried in the order %s',
  (random, weights, expected) => {
    expect(order(random, ...weights)).toBe(expected)
  },
)

test('over many random numbers each route comes first in proportion to its weight', () => {
  const firsts = Array.from({ length: 1000 }, (_, draw) => order(draw / 1000, 1, 2, 5).charAt(0))
  const count = (model: string) => firsts.filter((first) => first === model).length
  expect([count('a'), count('b'), count('c')]).toEqual([125, 250, 625])
})

test.each([
  ['a', 0, [1, 3], 'ab'],
  ['b', 0.99, [1, 3], 'ba'],
  ['ab', 0.99, [1, 3], 'ba'],
  ['a', 0, [8, 1, 1], 'abc'],
  ['a', 0.5, [8, 1, 1], 'acb'],
  ['a', 0.4, [0, 1, 1], 'bac'],
  ['a', 0, [undefined, undefined], 'ab'],
])(
  'while the circuit of %s is open, with the random number %d, the weights %j give %s: an open route is probed and not chosen',
  (out, random, weights, expected) => {
    expect(orderWithout(out, random, ...weights)).toBe(expected)
  },
)

const sessions = Array.from({ length: 10_000 }, (_, number) => Bun.hash.wyhash(`session ${number}`))

/** The model of the route that each session prefers. */
function preferred(of: readonly ModelRoute[]): readonly string[] {
  return sessions.map((session) => rankRoutes(of, session)[0]?.model ?? '')
}

function share(models: readonly string[], model: string): number {
  return models.filter((other) => other === model).length / models.length
}

test.each([
  [[3, 1], { a: 0.75, b: 0.25 }],
  [[5, 2, 1], { a: 0.625, b: 0.25, c: 0.125 }],
  [[1, undefined, 2], { a: 0.25, b: 0.25, c: 0.5 }],
  [[0, 4, 1], { a: 0, b: 0.8, c: 0.2 }],
])('over many sessions, routes of the weights %j are preferred in proportion to them', (weights, shares) => {
  const models = preferred(routes(...weights))
  for (const [model, expected] of Object.entries(shares))
    expect(share(models, model)).toBeWithin(expected - 0.02, expected + 0.02)
})

test('without one of the routes, only its sessions move, and spread over the others by weight', () => {
  const all = routes(2, 2, 1)
  const before = preferred(all)
  const after = preferred(all.filter(({ model }) => model !== 'a'))
  const moved = after.filter((_, index) => before[index] === 'a')
  expect(after.filter((_, index) => before[index] !== 'a')).toEqual(before.filter((model) => model !== 'a'))
  expect(share(moved, 'b')).toBeWithin(2 / 3 - 0.02, 2 / 3 + 0.02)
})

test('the second choice of a session is the route that it prefers without the first', () => {
  const all = routes(2, 2, 1)
  for (const session of sessions.slice(0, 100)) {
    const [first, second] = rankRoutes(all, session)
    expect(
      rankRoutes(
        all.filter((route) => route !== first),
        session,
      )[0],
    ).toBe(second!)
  }
})

test('the order of the routes in the settings is irrelevant, except of those without a share', () => {
  expect(preferred(routes(2, 2, 1).toReversed())).toEqual(preferred(routes(2, 2, 1)))
  const models = rankRoutes(routes(0, 1, 0), 7n).map(({ model }) => model)
  expect(models.join('')).toBe('bac')
})

test.each([
  [[1, 1], true],
  [[3, undefined], true],
  [[undefined, undefined], false],
  [[1, 0], false],
  [[0, 0], false],
  [[5], false],
  [[], false],
])('whether routes of the weights %j share requests by weight: %p', (weights, expected) => {
  expect(sharesByWeight(routes(...weights))).toBe(expected)
})
