import { describe, expect, test } from 'bun:test'
import { noLimits } from '../../../src/domain/accounting/allowance.ts'
import { KeyWatch } from '../../../src/http/authentication.ts'
import { type ApiError, serviceUnavailable } from '../../../src/lib/errors/errors.ts'
import { nextTurn } from '../../../src/lib/time.ts'
import type { KnownKey } from '../../../src/storage/ports/known-keys.ts'
import { organization } from '../gateway/support/organization.ts'

const now = 1000
const valid: KnownKey = {
  publicId: 'key',
  secretHash: new Uint8Array(),
  expiresAt: null,
  revokedAt: null,
  name: 'key',
  limitsId: 'key',
  limits: noLimits,
  organization: organization(),
  project: null,
  parent: null,
  permissions: [],
  contentLog: false,
  hasCredit: true,
}

/** A watch whose keys are found by `find`, with the errors of the streams that it ends. */
function watchOf(
  find: (publicId: string) => ReturnType<ConstructorParameters<typeof KeyWatch>[0]['find']>,
  calls: ReturnType<NonNullable<ConstructorParameters<typeof KeyWatch>[1]>> = [],
) {
  const watch = new KeyWatch(
    { find },
    () => calls,
    () => now,
  )
  const ended: ApiError[] = []
  return { watch, ended, open: (keyId = 'key') => watch.watch(keyId, (error) => ended.push(error)) }
}

describe('a stream', () => {
  test.each<[string, Partial<KnownKey> | undefined, number]>([
    ['is revoked', { revokedAt: 1 }, 401],
    ['has expired', { expiresAt: now }, 401],
    ['no longer exists', undefined, 401],
    ['belongs to no organization any more', { organization: null }, 403],
  ])('ends when its key %s', async (_, change, status) => {
    const { watch, ended, open } = watchOf(() => change && { ...valid, ...change })
    open()
    await watch.check()
    expect(ended).toMatchObject([{ status }])
  })

  test('goes on until the grace of its replaced key ends, and while no key can be read', async () => {
    const { watch, ended, open } = watchOf((id) => {
      if (id === 'unreadable') throw serviceUnavailable('The database is unavailable.')
      return { ...valid, expiresAt: now + 1 }
    })
    open('replaced')
    open('unreadable')
    await watch.check()
    expect(ended).toEqual([])
  })

  test('that has ended is not watched', async () => {
    const looked: string[] = []
    const { watch, ended, open } = watchOf((id) => {
      looked.push(id)
      return undefined
    })
    open('left')()
    const [first, second] = [open('half'), open('half')]
    first()
    first()
    await watch.check()
    expect([looked, ended.length]).toEqual([['half'], 1])
    second()
    await watch.check()
    expect(looked).toEqual(['half'])
  })
})

test('a call ends when the key of its caller does, and no call of another key or of no caller', async () => {
  const cancelled: unknown[] = []
  const callOf = (waitingKey: string | undefined) => ({
    waitingKey,
    cancel: ({ status }: ApiError) => void cancelled.push([waitingKey, status]),
  })
  const calls = ['revoked', 'valid', undefined, 'revoked'].map(callOf)
  const { watch } = watchOf((id) => ({ ...valid, revokedAt: id === 'valid' ? null : 1 }), calls)
  await watch.check()
  expect(cancelled).toEqual([
    ['revoked', 401],
    ['revoked', 401],
  ])
})

test('a check looks up each key once for all of its streams, and few keys at a time', async () => {
  let [lookups, running, most] = [0, 0, 0]
  const { watch, ended, open } = watchOf(async () => {
    lookups += 1
    running += 1
    most = Math.max(most, running)
    await nextTurn()
    running -= 1
    return { ...valid, revokedAt: 1 }
  })
  for (let index = 0; index < 1000; index++) open(`key-${index % 100}`)
  await watch.check()
  expect([lookups, most, ended.length]).toEqual([100, 16, 1000])
})
