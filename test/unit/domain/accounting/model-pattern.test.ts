import { expect, test } from 'bun:test'
import { isWithinModels, matchesModel } from '../../../../src/domain/accounting/model-pattern.ts'

test.each([
  ['acme/river', 'acme/river', true],
  ['acme/river', 'acme/rivers', false],
  ['acme/*', 'acme/river', true],
  ['acme/*', 'acme/', true],
  ['acme/*', 'acm/river', false],
  ['*', '', true],
  ['*', 'acme/river', true],
  ['*-mini', 'openai/gpt-5-mini', true],
  ['*-mini', 'openai/gpt-5-mini-2', false],
  ['acme/*-mini', 'acme/a-mini', true],
  ['acme/*-mini', 'acme/-mini', true],
  ['ab*ba', 'aba', false],
  ['ab*ba', 'abba', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['a*bc*c', 'abc', false],
  ['a**c', 'abc', true],
  ['a.c', 'abc', false],
])('the entry %s and the model %s match: %p', (entry, model, matches) => {
  expect(matchesModel(entry, model)).toBe(matches)
})

test('an entry with many parts is compared in no time', () => {
  expect(matchesModel('*a'.repeat(128), `${'a'.repeat(255)}b`)).toBe(false)
})

test.each([
  ['acme/r*', ['acme/*'], true],
  ['acme*', ['acme/*'], false],
  ['acme/river', ['acme/lake', 'acme/river'], true],
  ['acme/river', [], false],
])('the entry %s is within the list %j: %p', (entry, list, isWithin) => {
  expect(isWithinModels(entry, list)).toBe(isWithin)
})
