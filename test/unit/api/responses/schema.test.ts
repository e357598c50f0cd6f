import { expect, test } from 'bun:test'
import { ApiError } from '../../../../src/lib/errors/errors.ts'
import { responseRequest } from '../../../../src/api/responses/request/schema.ts'
import { type InvalidCase, minimalRequest, invalidType } from './support/schema-case.ts'
import * as fields from './support/schema-fields.ts'
import * as input from './support/schema-input.ts'

const accepted = [...fields.accepted, ...input.accepted]
const refused = [...fields.refused, ...input.refused]

const roots: readonly InvalidCase[] = [null, true, 5, 'text', [], [minimalRequest]].map((root) => {
  return [`a body ${JSON.stringify(root)}`, root as object, null, invalidType]
})

/** What the contract says of a body as it comes off the wire. */
function validate(body: unknown): unknown {
  return responseRequest.read(JSON.parse(toJson(body)))
}

/** As a client may write it: an infinite number too. */
function toJson(body: unknown): string {
  return JSON.stringify(body, (_, value) => (value === Infinity ? '∞' : value)).replaceAll('"∞"', '1e999')
}

function laidOver(patch: object): object {
  return { ...minimalRequest, ...patch }
}

function refusalOf(body: unknown): ApiError {
  try {
    validate(body)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('The body was accepted.')
}

function expectRefusal(error: ApiError, param: string | null, code: string): void {
  const { message, ...facts } = error.toBody().error
  expect(facts).toEqual({ type: 'invalid_request_error', param, code })
  expect(error.status).toBe(400)
  expect(message).toMatch(/^[^\n]{10,250}\.$/)
  expect(message).toContain(param === null ? 'request body' : `'${param}'`)
  expect(message).not.toMatch(/undefined|\[object|NaN/)
}

test('a minimal response request is valid', () => {
  expect(validate(minimalRequest)).toEqual(minimalRequest)
})

test.each([...accepted])('a response request is valid: %s', (_, patch) => {
  const body = laidOver(patch)
  expect(toJson(validate(body))).toBe(toJson(body))
})

test.each([...refused])('a response request is invalid: %s', (_, patch, param, code) => {
  expectRefusal(refusalOf(laidOver(patch)), param, code)
})

test.each([...roots])('a response request is invalid: %s', (_, body, param, code) => {
  expectRefusal(refusalOf(body), param, code)
})

test('one invalid item among twenty thousand is named', () => {
  const item = { role: 'user', content: [{ type: 'input_text', text: 'a' }] }
  const body = { ...minimalRequest, input: Array.from({ length: 20_000 }, () => item) }
  const wrong = { ...body, input: body.input.with(19_999, { role: 'user', content: 5 as never }) }
  expect(validate(body)).toEqual(body)
  expectRefusal(refusalOf(wrong), 'input[19999].content', invalidType)
})

test('the text of a prompt is not repeated in an error', () => {
  const secret = 'my medical history'
  const patches = [
    { temperature: secret },
    { input: [secret] },
    { input: [{ role: 'user', content: [secret] }] },
    { input: [{ role: 'user', content: { text: secret } }] },
    { metadata: [secret] },
  ]
  for (const patch of patches) expect(refusalOf(laidOver(patch)).message).not.toContain(secret)
})
