import { expect, test } from 'bun:test'
import { printLarge, printLargeWrites } from '../../../src/storage/common/large-writes.ts'
import { PrintedJson } from '../../../src/lib/json/printed.ts'
import type { Write } from '../../../src/storage/ports/ledger.ts'
import { requestOf } from './support/ledger-fixture.ts'
import { finished, responseStore } from './support/response-fixture.ts'
import { testStores } from './support/stores.ts'

const ok = { status: 200 }

/** A message with a text of that many characters. */
function messageOf(length: number) {
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'é'.repeat(length) }] }]
}

/** Counts the turns of the event loop until a promise settles. */
async function turnsUntil(promise: Promise<unknown>): Promise<number> {
  let turns = 0
  let settled = false
  const count = () => {
    turns++
    if (!settled) setImmediate(count)
  }
  setImmediate(count)
  await promise.finally(() => (settled = true))
  return turns
}

testStores((open) => {
  test('a large response is stored as a small one is', async () => {
    const { store, responses, acme } = await responseStore(open)
    const ledger = printLargeWrites(store.ledger)
    for (const length of [10, 1_200_000]) {
      const response = { ...finished(acme), input: messageOf(length) }
      await ledger.settle(requestOf(acme), ok, { writes: [{ kind: 'insert-response', response }] })
      expect(await responses.findInput(acme, response.id)).toEqual(messageOf(length))
    }
  })
})

test('only large writes are printed before, each in a turn of its own', async () => {
  const write = (length: number): Write => {
    const response = { ...finished('org_acme'), input: messageOf(length) }
    return { kind: 'insert-response', response }
  }
  expect(printLarge([])).toBeUndefined()
  expect(printLarge([write(1000)])).toBeUndefined()
  const printed = printLarge([write(600_000), write(1_200_000)])
  expect(await turnsUntil(printed!)).toBeGreaterThanOrEqual(2)
  const inputs = (await printed!).map((one) => one.kind === 'insert-response' && one.response.input)
  expect(inputs).toEqual([600_000, 1_200_000].map((length) => new PrintedJson(messageOf(length))))
})
