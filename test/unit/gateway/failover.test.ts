import { expect, test } from 'bun:test'
import type { ModelRoute } from '../../../src/gateway/models/model.ts'
import { routeOrder } from '../../../src/gateway/routing/failover.ts'
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
  return routeOrder(routes(...weights), isOut, () => random)
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
