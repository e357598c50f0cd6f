import { describe, expect, test } from 'bun:test'
import type { Route } from '../../../src/config/model-details.ts'
import type { Generation } from '../../../src/domain/generation/request.ts'
import { countWords, routesForPrompt } from '../../../src/gateway/routing/context-window.ts'
import { textsOf, tokensIn } from '../../reliability/money/support/texts.ts'
import { randomFrom } from '../providers/protocols/support/random.ts'
import { modelsWith } from './support/model-fixtures.ts'

describe('the words of a text', () => {
  test.each(Object.entries(textsOf(randomFrom('words'), 4000)))(
    'are never more than its tokens: %s',
    (_, text) => {
      expect(countWords(text)).toBeLessThanOrEqual(tokensIn(text))
    },
  )

  test.each([
    ['', 0],
    ['one', 1],
    [' one  two\nthree\t4 ', 4],
    ['// - … !', 0],
    ['//\n//\n//', 0],
    ['don’t snake_case x-y', 3],
    ['реки и 河流', 3],
  ])('are those with a letter or a digit: %j', (text, words) => {
    expect(countWords(text)).toBe(words)
  })
})

/** A model whose routes have these windows, with its own. */
function modelOf(windows: readonly (number | undefined)[], context_window?: number, on?: Route['on']) {
  const routes = windows.map((window, index) => ({
    provider: 'alpha',
    model: 'abcd'.charAt(index),
    ...(window !== undefined && { context_window: window }),
    ...(on && { on }),
  }))
  const own = context_window === undefined ? {} : { context_window }
  const model = modelsWith([{ slug: 'alpha/sized', routes, ...own }]).find('alpha/sized')
  if (!model) throw new Error('The model is missing.')
  return model
}

test.each([
  [[undefined], undefined, undefined],
  [[undefined], 100, 100],
  [[50], 100, 100],
  [[100, 200], undefined, 200],
  [[100, 200], 150, 200],
  [[100, undefined], undefined, undefined],
  [[100, undefined], 50, 100],
])('routes with the windows %j of a model with %p have the window %p together', (windows, own, together) => {
  expect(modelOf(windows, own).contextWindow).toBe(together)
})

describe('the routes for a prompt', () => {
  const on: Route['on'] = ['context_length']
  const words = (count: number): Generation => ({
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'word '.repeat(count) }] }],
    tools: [],
    extras: {},
  })
  const inputs = (...all: (string | number[])[]): Generation => ({ ...words(0), inputs: all })
  const ids = (count: number) => Array.from({ length: count }, () => 7)
  const chosen = (model: ReturnType<typeof modelOf>, generation: Generation) =>
    routesForPrompt(model, generation)
      .map((route) => route.model)
      .join('')

  test.each([
    ['as many words', words(100), 'abc'],
    ['a word more', words(101), 'bc'],
    ['more words than two routes hold', words(201), 'c'],
    ['more than any route holds', words(301), 'abc'],
    ['token ids', inputs(ids(101)), 'bc'],
    ['several inputs, each of which fits', inputs(ids(100), 'word '.repeat(100)), 'abc'],
    ['one long input', inputs('word', 'word '.repeat(250)), 'c'],
  ])('with the windows 100, 200 and 300 are those that may hold it: %s', (_, generation, routes) => {
    expect(chosen(modelOf([100, 200, 300], undefined, on), generation)).toBe(routes)
  })

  test('are all of them where no route is left for a long prompt', () => {
    expect(chosen(modelOf([100, 200]), words(150))).toBe('ab')
  })

  test('include one of unknown size', () => {
    expect(chosen(modelOf([100, undefined], undefined, on), words(150))).toBe('b')
  })

  test('keep one that is not left for a long prompt', () => {
    const { routes } = modelOf([100, 200])
    const mixed = routes.map((route) => (route.model === 'b' ? { ...route, on } : route))
    expect(routesForPrompt({ routes: mixed }, words(150))).toHaveLength(2)
  })
})
