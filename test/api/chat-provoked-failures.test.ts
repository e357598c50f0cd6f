import { expect, test } from 'bun:test'
import { startPaid } from '../reliability/money/support/paid.ts'
import { whole } from '../support/chat-answers.ts'
import { readCompletion } from '../support/chat-reply.ts'
import { question } from '../support/scenario.ts'
import { json } from '../support/script.ts'

const failed = json({ error: { message: 'The model crashed.' } }, { status: 500 })

/** A gateway with two organizations and two providers; `ask` says who has answered. */
async function startShared() {
  const settings = { retries: { attempts: 0 }, breaker: { failures: 2 } }
  const paid = await startPaid(failed, { settings, other: [whole()], clock: () => 0 })
  await paid.books.fund('hostile', '1')
  const hostile = { authorization: `Bearer ${await paid.books.keyOf('hostile')}` }
  const ask = async (headers = {}) => {
    return (await readCompletion(await paid.app.chat(question, { headers }))).provider
  }
  return { paid, ask, provoke: () => ask(hostile), [Symbol.asyncDispose]: paid[Symbol.asyncDispose] }
}

test('an organization that provokes failures of a route opens the circuit breaker for itself alone', async () => {
  await using shared = await startShared()
  const { paid, ask, provoke } = shared
  for (let call = 0; call < 5; call++) expect(await provoke()).toBe('other')
  expect(paid.acme.requests).toHaveLength(2)
  paid.acme.answer(whole())
  expect([await ask(), await ask()]).toEqual(['acme', 'acme'])
})

test('a route that fails for several organizations is skipped for all of them', async () => {
  await using shared = await startShared()
  const { paid, ask, provoke } = shared
  await paid.books.fund('third', '1')
  const third = { authorization: `Bearer ${await paid.books.keyOf('third')}` }
  expect([await provoke(), await ask()]).toEqual(['other', 'other'])
  paid.acme.answer(whole())
  expect(await ask(third)).toBe('other')
  expect(paid.acme.requests).toHaveLength(2)
})

test('a route that only one organization uses is skipped after its failures', async () => {
  await using shared = await startShared()
  const { paid, ask } = shared
  for (let call = 0; call < 5; call++) expect(await ask()).toBe('other')
  expect(paid.acme.requests).toHaveLength(2)
})
