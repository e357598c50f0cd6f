import { expect, test } from 'bun:test'
import { requestDetails, sentenceOf } from '../../../src/gateway/request-details.ts'
import { ApiError, badRequest } from '../../../src/lib/errors/errors.ts'

test.each([
  [
    "Invalid 'messages': must have at least 1 item, not 0.",
    'messages',
    "Invalid 'messages': must have at least 1 item, not 0.",
  ],
  ["Invalid 'model': there is no 'my secret plan'.", 'model', "Invalid 'model': there is no “…”."],
  ["Invalid 'user': must not be 'it's' or 'a' b.", 'user', "Invalid 'user': must not be “…” b."],
  ["There is no 'plan' in 'model'.", 'model', 'There is no “…”.'],
  ["Invalid 'n': must be 1.\nMy secret plan", 'n', "Invalid 'n': must be 1. …"],
  ["Invalid 'n': {my secret plan}", 'n', "Invalid 'n': …"],
  ["Invalid 'my secret plan': unknown.", 'my secret plan', 'Invalid “…”: unknown.'],
  ["Unknown parameter: 'it's' a plan'.", null, 'Unknown parameter: “…”.'],
])('of the error %j about %j, what a client may have written is not recorded', (message, param, recorded) => {
  expect(sentenceOf(badRequest(message, 'invalid_value', param))).toBe(recorded)
})

test('a parameter is recorded if it can be a name', () => {
  const paramOf = (param: string) => requestDetails(badRequest('No.', 'invalid_value', param))?.param
  expect(paramOf('messages[0].content')).toBe('messages[0].content')
  expect(paramOf('metadata.Mrs Miller, born 1950')).toBeUndefined()
})

test('a warning is recorded with what it names if those can be names', () => {
  const warnings = [
    'Parameters `top_k`, `messages[].name` and `seed` are not supported by acme and were ignored.',
    'Properties `messages[].Mrs Miller` and `a` are not supported and were ignored.',
    'Property `messages[].a` b `c` is not supported and was ignored.',
    'The usage is estimated.',
  ]
  expect(requestDetails(undefined, [], warnings)?.warnings).toEqual([
    warnings[0]!,
    'Properties “…” are not supported and were ignored.',
    'Property “…” is not supported and was ignored.',
    'The usage is estimated.',
  ])
})

test('the error of a provider is recorded without its own words', () => {
  const rejected = new ApiError(400, 'acme: “My secret plan” is too long.', { code: 'upstream_rejected' })
  expect(sentenceOf(rejected)).toStartWith('The provider rejected the request as invalid.')
})
