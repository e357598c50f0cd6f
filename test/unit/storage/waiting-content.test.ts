import { expect, test } from 'bun:test'
import { WaitingContent, withBoundedContent } from '../../../src/storage/common/waiting-content.ts'
import { noAlerts } from '../../../src/storage/ports/webhooks.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { fundedStorage, requestOf } from './support/ledger-fixture.ts'

test('what waits for a slow database has a bound: beyond it, requests are settled without their content', async () => {
  const received: (string | undefined)[] = []
  let slow = Promise.withResolvers<void>()
  const settle = withBoundedContent(async (_, { content }) => {
    received.push(content)
    await slow.promise
    return { recorded: true, charged: 0n }
  }, new WaitingContent(10))
  const settleWith = (content?: string) =>
    settle(requestOf('org_1'), { status: 200, cost: 1n, ...(content !== undefined && { content }) }, {})
  const waiting = [settleWith('123456'), settleWith('12345'), settleWith('1234'), settleWith()]
  expect(received).toEqual(['123456', undefined, '1234', undefined])
  slow.reject(new Error('The database is gone.'))
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(
    Array.from({ length: 4 }, () => 'rejected'),
  )
  slow = Promise.withResolvers()
  slow.resolve()
  expect(await settleWith('1234567890')).toEqual({ recorded: true, charged: 0n })
  expect(received.at(-1)).toBe('1234567890')
})

test('what is recorded while SQLite cannot write shares the bound, and is released when it is written', async () => {
  const { database, writer, acme } = await fundedStorage(0n)
  const waiting = new WaitingContent(10)
  const ledger = createLedger(database, writer, () => noAlerts, Date.now, waiting)
  const record = (content: string) => ledger.recordUsage(requestOf(acme.id), { status: 200, content })
  const contents = () => database.sqlite.query('SELECT content FROM content_log ORDER BY content').values()
  const settling: Promise<unknown>[] = []
  await writer.whilePaused(async () => {
    await record('"1234"')
    void ledger.flush()
    await record('"12345"')
    settling.push(ledger.settle(requestOf(acme.id), { status: 200, content: '"5"' }))
  })
  await Promise.all([...settling, ledger.flush()])
  expect(contents()).toEqual([['"1234"'], ['"5"']])
  await record('"12345678"')
  await ledger.flush()
  expect(contents()).toEqual([['"1234"'], ['"12345678"'], ['"5"']])
  expect(database.sqlite.query('SELECT count(*) FROM usage').values()).toEqual([[4]])
})
