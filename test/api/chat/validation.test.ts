import { expect, test } from 'bun:test'
import { chatRequest } from '../../../src/api/chat-completions/schema.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { startApp } from '../../support/app.ts'
import { readError } from '../../support/chat-reply.ts'
import { type InvalidCase, minimalRequest, invalidType } from '../support/chat-validation-case.ts'
import * as fields from '../support/chat-validation-fields.ts'
import * as messages from '../support/chat-validation-messages.ts'
import * as options from '../support/chat-validation-options.ts'

const accepted = [...fields.accepted, ...messages.accepted, ...options.accepted]
const refused = [...fields.refused, ...messages.refused, ...options.refused]

const roots: readonly InvalidCase[] = [null, true, 5, 'text', [], [minimalRequest]].map((root) => {
  return [`a body ${JSON.stringify(root)}`, root as object, null, invalidType]
})

/** What the contract says of a body as it comes off the wire. */
function validate(body: unknown): unknown {
  return chatRequest.read(JSON.parse(toJson(body)))
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

test('a minimal request is accepted', () => {
  expect(validate(minimalRequest)).toEqual(minimalRequest)
})

test.each([...accepted])('a request is accepted unchanged: %s', (_, patch) => {
  const body = laidOver(patch)
  expect(toJson(validate(body))).toBe(toJson(body))
})

test.each([...refused])('a request is rejected: %s', (_, patch, param, code) => {
  expectRefusal(refusalOf(laidOver(patch)), param, code)
})

test.each([...roots])('a request is rejected: %s', (_, body, param, code) => {
  expectRefusal(refusalOf(body), param, code)
})

function expectRefusal(error: ApiError, param: string | null, code: string): void {
  const { message, ...facts } = error.toBody().error
  expect(facts).toEqual({ type: 'invalid_request_error', param, code })
  expect(error.status).toBe(400)
  expect(message).toMatch(/^[^\n]{10,250}\.$/)
  expect(message).toContain(param === null ? 'request body' : `'${param}'`)
  expect(message).not.toMatch(/undefined|\[object|NaN/)
}

test('one invalid message among twenty thousand is named', () => {
  const body = {
    ...minimalRequest,
    messages: Array.from({ length: 20_000 }, () => minimalRequest.messages[0]),
  }
  const wrong = { ...body, messages: body.messages.with(19_999, { role: 'user', content: 5 as never }) }
  expect(validate(body)).toEqual(body)
  expectRefusal(refusalOf(wrong), 'messages[19999].content', invalidType)
})

test('the text of a prompt is not repeated in an error', () => {
  const secret = 'my medical history'
  for (const patch of [{ temperature: secret }, { messages: secret }, { metadata: [secret] }])
    expect(refusalOf(laidOver(patch)).message).not.toContain(secret)
})

test('validation leaves all prototypes unchanged', () => {
  const proto = '{"admin":true}'
  const text = `{"model":"a","messages":[{"role":"user","__proto__":${proto}}],"__proto__":${proto}}`
  const value = chatRequest.read(JSON.parse(text))
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false)
  expect(JSON.stringify({ ...value })).toContain('"__proto__"')
})

test('a rejection over HTTP is a 400 with the schema’s message, and nothing more', async () => {
  await using app = await startApp()
  const sample = [...refused.filter((_, index) => index % 7 === 0), ...roots]
  for (const [name, patch, param, code] of sample) {
    const body = toJson(roots.some(([root]) => root === name) ? patch : laidOver(patch))
    const { message, ...facts } = await readError(
      await app.request('/v1/chat/completions', { method: 'POST', body }),
    )
    expect([name, facts]).toEqual([name, { status: 400, type: 'invalid_request_error', param, code }])
    expect(message).toMatch(/^[^\n]{10,250}\.$/)
  }
  expect(app.lines).toEqual([])
})
