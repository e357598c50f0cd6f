import { expect, test } from 'bun:test'
import { chunks, jsonReply } from '../../support/chat-fixtures.ts'
import { firstChunks, lastChunks } from '../../support/background.ts'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { startBudgets } from '../budgets/support/budget-scenario.ts'

const chat = '/v1/chat/completions'

/** What the headers say is left of a limit per minute. */
function remaining(reply: Response, kind: 'requests' | 'tokens' = 'requests') {
  return [`x-ratelimit-limit-${kind}`, `x-ratelimit-remaining-${kind}`].map((name) => reply.headers.get(name))
}

test('the requests per minute of a key and of its project are limited apart from those of other keys', async () => {
  await using scenario = await startBudgets(jsonReply(), { clock: () => 0 })
  const { projects } = scenario.billing
  const project = await projects.create({ organization: 'default', name: 'p', requestsPerMinute: 3 })
  const key = await scenario.keyWith({ requestsPerMinute: 2, project: project.id })
  const sibling = await scenario.keyWith({ project: project.id })
  const first = await key.post(chat, chatRequest)
  expect([first.status, remaining(first)]).toEqual([200, ['2', '1']])
  await key.get('/v1/models')
  const refused = await key.post(chat, chatRequest)
  expect([remaining(refused), refused.headers.get('retry-after')]).toEqual([['2', '0'], '30'])
  expect(await readError(refused)).toMatchObject({
    status: 429,
    type: 'requests',
    message: expect.stringContaining('too many requests per minute for the key (limit: 2)'),
  })
  expect(remaining(await sibling.get('/v1/models'))).toEqual(['3', '0'])
  expect((await readError(await sibling.get('/v1/models'))).message).toContain('for the project (limit: 3)')
  expect((await scenario.app.request('/v1/models')).status).toBe(200)
  expect(scenario.acme.requests).toHaveLength(1)
})

test('a replaced key shares the limits of the new one', async () => {
  await using scenario = await startBudgets(jsonReply(), { clock: () => 0 })
  const key = await scenario.keyWith({ requestsPerMinute: 2, budget: 10n ** 9n })
  const { key: next } = await scenario.billing.keys.rotate(key.id, 60_000)
  const headers = { authorization: `Bearer ${next.reveal()}` }
  expect((await key.post(chat, chatRequest)).status).toBe(200)
  expect((await scenario.app.chat(chatRequest, { headers })).status).toBe(200)
  expect((await key.post(chat, chatRequest)).status).toBe(429)
  expect((await scenario.app.chat(chatRequest, { headers })).status).toBe(429)
  await scenario.billing.waitForUsage(2)
  expect(Number((await key.use())[0])).toBeGreaterThan(0)
  expect(await scenario.billing.count('budgets')).toBe(1)
})

test('a key that another one has created has the rate limits of the other, too', async () => {
  await using scenario = await startBudgets(jsonReply(), { clock: () => 0 })
  const parent = await scenario.keyWith({ budget: 10n ** 9n, requestsPerMinute: 1, permissions: ['mint'] })
  const minted = { name: 'run', expiresAt: null, budget: 10n ** 8n }
  const { key } = await scenario.billing.keys.mint(parent.id, minted)
  const headers = { authorization: `Bearer ${key.reveal()}` }
  expect((await scenario.app.chat(chatRequest, { headers })).status).toBe(200)
  const { message } = await readError(await scenario.app.chat(chatRequest, { headers }))
  expect(message).toContain('for the key that created this one (limit: 1)')
  expect((await parent.get('/v1/models')).status).toBe(429)
})

test('the tokens per minute and the calls at once of a key are limited', async () => {
  const released = Promise.withResolvers<void>()
  const slow = chunks([...firstChunks, released.promise, ...lastChunks])
  await using scenario = await startBudgets([slow, jsonReply()], { clock: () => 0 })
  const key = await scenario.keyWith({ concurrentRequests: 1, tokensPerMinute: 30 })
  const open = await key.post(chat, { ...chatRequest, stream: true })
  const busy = await readError(await key.post(chat, chatRequest))
  expect([busy.status, busy.message]).toEqual([
    429,
    expect.stringContaining('too many concurrent requests for the key (limit: 1)'),
  ])
  released.resolve()
  await open.text()
  const last = await key.post(chat, chatRequest)
  expect([last.status, remaining(last, 'tokens')]).toEqual([200, ['30', '0']])
  const { type, message } = await readError(await key.post(chat, chatRequest))
  expect([type, message]).toEqual(['tokens', expect.stringContaining('for the key (limit: 30)')])
})
