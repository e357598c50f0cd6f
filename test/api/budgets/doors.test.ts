import { describe, expect, test } from 'bun:test'
import { fieldsOf } from '../../../src/lib/json/json.ts'
import { readError } from '../../support/chat-reply.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { messageRequest } from '../../support/messages.ts'
import { responseRequest } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { startBudgets } from './support/budget-scenario.ts'
import { startOnce } from '../../support/start-once.ts'

/** The operations that send a request to a provider that costs something, each with bodies of all ways to use it. */
const costly: Readonly<Record<string, readonly object[]>> = {
  'POST /v1/chat/completions': [
    chatRequest,
    { ...chatRequest, stream: true },
    { ...chatRequest, store: true },
  ],
  'POST /v1/completions': [
    { model: 'acme/prompts', prompt: 'The gate is' },
    { model: 'acme/prompts', prompt: 'The gate is', stream: true },
  ],
  'POST /v1/embeddings': [{ model: 'acme/vectors', input: 'How high is it?' }],
  'POST /v1/messages': [messageRequest, { ...messageRequest, stream: true }],
  'POST /v1/responses': [
    responseRequest,
    { ...responseRequest, stream: true },
    { ...responseRequest, background: true },
    { ...responseRequest, background: true, stream: true },
  ],
}

/** The operations that never send a request that costs something: they read, count, manage, or end what runs. */
const free: readonly RegExp[] = [
  /^GET \/(livez|readyz|metrics|openapi\.json)$/,
  /^GET \/v1\/models(\/\{id\})?$/,
  /^GET \/v1\/chat\/completions/,
  /^(POST|DELETE) \/v1\/chat\/completions\/\{completion_id\}$/,
  /^GET \/v1\/responses/,
  /^DELETE \/v1\/responses\/\{id\}$/,
  /^POST \/v1\/responses\/\{id\}\/cancel$/,
  /^POST \/v1\/responses\/input_tokens$/,
  /^POST \/v1\/messages\/count_tokens$/,
  /^[A-Z]+ \/admin\//,
  // A key that creates others spends its own budget, and sends nothing.
  /^[A-Z]+ \/v1\/organization(\/|$)/,
]

const unchanged = startOnce(() => startBudgets(jsonReply()))

test('each operation of the OpenAPI document is known as free or as costly, and not as both', async () => {
  const scenario = await unchanged()
  const document = fieldsOf(await (await scenario.app.request('/openapi.json')).json())
  const operations = Object.entries(fieldsOf(document.paths)).flatMap(([path, methods]) =>
    Object.keys(fieldsOf(methods)).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const isFree = (operation: string) => free.some((pattern) => pattern.test(operation))
  const unknown = operations.filter((operation) => isFree(operation) === operation in costly)
  expect(unknown).toEqual([])
  expect(Object.keys(costly).filter((operation) => !operations.includes(operation))).toEqual([])
})

describe.each(Object.entries(costly))('%s', (operation, bodies) => {
  const path = operation.replace('POST ', '')

  test.each(bodies)(
    'is refused before a provider is asked if nothing is left of a budget: %j',
    async (body) => {
      const scenario = await unchanged()
      const key = await scenario.keyWith({ budget: 0n })
      const reply = await key.post(path, body)
      expect([reply.headers.get('x-should-retry'), reply.headers.get('retry-after')]).toEqual(['false', null])
      if (path === '/v1/messages') {
        expect(reply.status).toBe(402)
        expect(await reply.json()).toMatchObject({
          type: 'error',
          error: { type: 'billing_error', message: expect.stringContaining('Budget exceeded') },
        })
      } else
        expect(await readError(reply)).toMatchObject({
          status: 402,
          type: 'insufficient_quota',
          code: 'budget_exceeded',
          param: null,
          message: expect.stringContaining('0.00 USD of 0.00 USD are left of the budget of the key “agent”.'),
        })
      expect(scenario.acme.requests).toEqual([])
      expect(await key.use()).toEqual([0, 0, 0])
      expect(await scenario.billing.account()).toEqual([1e9, 0])
      const row = await scenario.billing.usageOf(reply.headers.get('x-request-id') ?? '')
      expect(row).toMatchObject({ status: 402, error: 'budget_exceeded', provider: null })
      await scenario.billing.expectConsistent()
    },
  )

  test.each(bodies)(
    'is refused if its model is not allowed, also by another name of it: %j',
    async (body) => {
      const scenario = await unchanged()
      const key = await scenario.keyWith({ models: ['acme/other', 'globex/*'] })
      const { model } = body as { readonly model: string }
      for (const name of [model, model.replace('acme/', '')]) {
        const reply = await key.post(path, { ...body, model: name })
        expect(reply.status).toBe(403)
        const { error } = (await reply.json()) as { readonly error: Readonly<Record<string, unknown>> }
        expect(error).toMatchObject({ type: 'permission_error', message: expect.stringContaining(model) })
        if (path !== '/v1/messages')
          expect(error).toMatchObject({ code: 'model_not_allowed', param: 'model' })
      }
      expect(scenario.acme.requests).toEqual([])
    },
  )
})

test.each([
  ['/v1/messages/count_tokens', { model: 'acme/river', messages: messageRequest.messages }],
  ['/v1/responses/input_tokens', responseRequest],
])('%s costs nothing, and counts only for an allowed model', async (path, body) => {
  const scenario = await unchanged()
  const free = await scenario.keyWith({ budget: 0n })
  expect((await free.post(path, body)).status).toBe(200)
  const other = await scenario.keyWith({ models: [] })
  expect((await other.post(path, body)).status).toBe(403)
  expect(scenario.acme.requests).toEqual([])
})
