import { afterAll, describe, expect, test } from 'bun:test'
import * as fields from '../../unit/api/responses/support/schema-fields.ts'
import * as input from '../../unit/api/responses/support/schema-input.ts'
import {
  type InvalidCase,
  missingParameter,
  minimalRequest,
  invalidType,
} from '../../unit/api/responses/support/schema-case.ts'
import { startApp } from '../../support/app.ts'
import { readError } from '../../support/chat-reply.ts'
import { responsesPath } from '../../support/responses.ts'

const app = await startApp()
afterAll(app.stop)

const refused = [...fields.refused, ...input.refused]
const accepted = [...fields.accepted, ...input.accepted]

const unsupported = 'unsupported_parameter'
const unknownId = `resp_${'0'.repeat(32)}`
const call = { type: 'function', name: 'f', parameters: {} }
const format = (value: object) => ({ text: { format: value } })

/** What no single field has wrong. */
const together: readonly InvalidCase[] = [
  ['a tool', { tools: [call] }, 'tools', unsupported],
  ['a tool that providers run', { tools: [{ type: 'web_search' }] }, 'tools', unsupported],
  ['a tool for a stream', { tools: [call], stream: true }, 'tools', unsupported],
  ['a run that is not stored', { background: true, store: false }, 'background', unsupported],
  ['no items', { input: [] }, 'input', 'empty_array'],
  ['a format of no known type', format({ type: 'grammar' }), 'text.format.type', 'invalid_value'],
  [
    'a schema without a name',
    format({ type: 'json_schema', schema: {} }),
    'text.format.name',
    missingParameter,
  ],
  [
    'a schema without itself',
    format({ type: 'json_schema', name: 'a' }),
    'text.format.schema',
    missingParameter,
  ],
  [
    'a file',
    { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] },
    'input[0].content[0].file_id',
    unsupported,
  ],
  ...['', 'resp_1', unknownId].map((id): InvalidCase => [
    `the previous response “${id}”`,
    { previous_response_id: id },
    'previous_response_id',
    'previous_response_not_found',
  ]),
]

const roots: readonly InvalidCase[] = [null, true, 5, 'text', [], [minimalRequest]].map((root) => {
  return [`a body ${JSON.stringify(root)}`, root as object, null, invalidType]
})

/** As a client may write it: an infinite number too. */
function toJson(body: unknown): string {
  return JSON.stringify(body, (_, value) => (value === Infinity ? '∞' : value)).replaceAll('"∞"', '1e999')
}

function post(body: unknown): Promise<Response> {
  return app.request(responsesPath, { method: 'POST', body: toJson(body) })
}

async function expectRefusal(body: unknown, param: string | null, code: string | null): Promise<void> {
  const { message, ...facts } = await readError(await post(body))
  expect(facts).toEqual({ status: 400, type: 'invalid_request_error', param, code })
  expect(message).toMatch(/^[^\n]{10,250}\.$/)
}

describe('a response request is rejected for', () => {
  test.each([...refused, ...together])('%s', async (_, patch, param, code) => {
    await expectRefusal({ ...minimalRequest, ...patch }, param, code)
  })

  test.each([...roots])('%s', async (_, body, param, code) => {
    await expectRefusal(body, param, code)
  })

  test('an image without a source', async () => {
    const content = [{ type: 'input_image' }]
    const reply = await post({ ...minimalRequest, input: [{ role: 'user', content }] })
    expect(reply.status).toBe(200)
    expect(await reply.json()).toHaveProperty('warnings', [expect.stringContaining('image')])
  })
})

test.each([
  ['an unknown model', { model: 'acme/sea' }, 'model', 'model_not_found'],
  ['an item that is not there', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input', null],
  [
    'an item that is not there, told without a type',
    { input: [{ id: `msg_${'0'.repeat(32)}00` }] },
    'input',
    null,
  ],
])('a response request is a 404 for %s', async (_, patch, param, code) => {
  const { message, ...facts } = await readError(await post({ ...minimalRequest, ...patch }))
  expect(facts).toEqual({ status: 404, type: 'invalid_request_error', param, code })
  expect(message).toEndWith('.')
})

test('references to the items of more than a thousand responses are rejected', async () => {
  const references = Array.from({ length: 1001 }, (_, index) => ({
    type: 'item_reference',
    id: `msg_${String(index).padStart(32, '0')}00`,
  }))
  await expectRefusal({ ...minimalRequest, input: references }, 'input', 'array_above_max_length')
  expect((await post({ ...minimalRequest, input: references.slice(1) })).status).toBe(404)
})

/** What passes for a request, and asks for what is not there. */
const refusedLater: ReadonlyMap<string, number> = new Map([
  ['an empty previous_response_id', 400],
  ['a format of any type', 400],
  ['tools, which are rejected later', 400],
  ['no items', 400],
  ['a reference', 404],
  ['a reference with free properties', 404],
  ['a reference without a type', 404],
  ['a reference with null for a type', 404],
  ['an image of a file, which is rejected later', 400],
])

test.each([...accepted])('a response request is accepted: %s', async (name, patch) => {
  const reply = await post({ ...minimalRequest, ...patch })
  const text = await reply.text()
  expect([reply.status, text]).toEqual([refusedLater.get(name) ?? 200, expect.any(String)])
  const streamed = reply.headers.get('content-type')?.startsWith('text/event-stream')
  if (streamed) expect(text).toContain('event: response.completed\n')
})

test('a body that is not JSON is rejected', async () => {
  const reply = await app.request(responsesPath, { method: 'POST', body: '{"model":' })
  expect(await readError(reply)).toMatchObject({ status: 400, param: null, code: null })
})

test('none of these rejections is a failure of the gateway', () => {
  expect(app.lines).toEqual([])
})
