import { expect, test } from 'bun:test'
import { withBoundedContent } from '../../../src/storage/common/waiting-content.ts'
import { requestOf } from './support/ledger-fixture.ts'

test('what waits for a slow database has a bound: beyond it, requests are settled without their content', async () => {
  const received: (string | undefined)[] = []
  let slow = Promise.withResolvers<void>()
  const settle = withBoundedContent(async (_, { content }) => {
    received.push(content)
    await slow.promise
    return { recorded: true, charged: 0n }
  }, 10)
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
