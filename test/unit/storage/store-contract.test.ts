import { waitUntil } from '../../support/billing-database.ts'
import { isReserved } from '../../support/is-reserved.ts'
import { expect, test } from 'bun:test'
import type { Write } from '../../../src/storage/ports/ledger.ts'
import { completionId } from '../../support/completion-id.ts'
import { expectConsistent, fundedStore, requestOf } from './support/ledger-fixture.ts'
import { finished, responseStore, runSteps, unfinished } from './support/response-fixture.ts'
import { type TestStore, type SharedTestStore, testStores, valuesOf } from './support/stores.ts'

const moment = Date.UTC(2026, 5, 1)

function completionOf(organization: string, id: string): Write {
  const completion = { id, organization, model: 'acme/river', metadata: {}, completion: {}, messages: [] }
  return { kind: 'insert-completion', completion }
}

const tables = [
  'completions',
  'responses',
  'response_log',
  'provider_state',
  'usage',
  'ledger',
  'reservations',
]

async function countsOf(store: TestStore): Promise<unknown[]> {
  const counts = await Promise.all(tables.map((table) => valuesOf(store, `SELECT count(*) FROM ${table}`)))
  return counts.map((rows) => rows[0]?.[0])
}

testStores((open) => {
  test('a deleted organization loses its rows in every table, and another one keeps them', async () => {
    const { store, organizations, ledger, reservation, acme } = await fundedStore(open, 10n ** 6n)
    if ('shared' in store) await (store as SharedTestStore).shared.processes.register('owner')
    const other = await organizations.create('other')
    await organizations.credit('other', 10n ** 6n)
    for (const { id } of [acme, other]) {
      const requests = Array.from({ length: 450 }, () => requestOf(id))
      await Promise.all(requests.map((request) => ledger.reserve(reservation(10n, request))))
      await Promise.all(
        requests.slice(0, 225).map((request) => ledger.settle(request, { status: 200, cost: 1n })),
      )
      const run = unfinished(id, 'queued')
      await ledger.write([
        ...Array.from({ length: 225 }, (_, index) => completionOf(id, completionId(moment, index))),
        { kind: 'insert-response', response: finished(id) },
        { kind: 'insert-response', response: run },
      ])
      const { start, append } = runSteps(store.runs)
      await start(id, run.id)
      await append(id, run.id, 0, '["piece"]\n')
      const state = { organization: id, callId: 'call_1', provider: 'gemini', value: 1, expiresAt: 9e15 }
      await store.providerState().store(state)
    }
    expect(await countsOf(store)).toEqual([450, 4, 2, 2, 450, 452, 450])
    expect(await organizations.areSeveral()).toBe(true)
    const steps: number[] = []
    await organizations.delete('acme', (rows) => void steps.push(rows))
    expect(await countsOf(store)).toEqual([225, 2, 1, 1, 225, 226, 225])
    expect(Math.max(...steps)).toBeLessThanOrEqual(5000)
    expect((await organizations.list()).map(({ name }) => name)).toEqual(['other'])
    expect(await organizations.areSeveral()).toBe(false)
    await ledger.write([completionOf(acme.id, completionId(moment, 999))])
    await ledger.settle(requestOf(acme.id), { status: 200 })
    expect(await isReserved(ledger, reservation(1n, requestOf(acme.id)))).toBe(false)
    expect(await countsOf(store)).toEqual([225, 2, 1, 1, 225, 226, 225])
    expect((await organizations.create('acme')).id).not.toBe(acme.id)
  })

  test('old usage rows are deleted in steps of a bounded number of rows', async () => {
    const { store, ledger, acme } = await fundedStore(open, 0n)
    const requests = Array.from({ length: 450 }, (_, index) => ({ ...requestOf(acme.id), createdAt: index }))
    await Promise.all(requests.map((request) => ledger.settle(request, { status: 200 })))
    const steps = []
    for (let deleted = 1; deleted > 0;) steps.push((deleted = await store.usage.expire(440)))
    expect(steps).toEqual([200, 200, 40, 0])
    expect(await valuesOf(store, 'SELECT min(created_at), count(*) FROM usage')).toEqual([[440, 10]])
  })

  test('of concurrent settlements only the one with an invalid write is rejected, and charged a moment later', async () => {
    const { store, ledger, reservation, acme } = await fundedStore(open, 10_000n)
    const taken = completionId(moment)
    await ledger.write([completionOf(acme.id, taken)])
    const requests = Array.from({ length: 20 }, () => requestOf(acme.id))
    await Promise.all(requests.map((request) => ledger.reserve(reservation(100n, request))))
    const settled = await Promise.allSettled(
      requests.map((request, index) =>
        ledger.settle(
          request,
          { status: 200, cost: 100n },
          { writes: [completionOf(acme.id, index === 7 ? taken : completionId(moment, index + 1))] },
        ),
      ),
    )
    expect(settled.map(({ status }) => status)).toEqual(
      requests.map((_, index) => (index === 7 ? 'rejected' : 'fulfilled')),
    )
    const account = async () => (await valuesOf(store, 'SELECT balance, reserved FROM organizations'))[0]
    await waitUntil(async () => (await account())?.[1] === 0, 'the charge of the rejected settlement')
    expect(await account()).toEqual([8000, 0])
    expect(await valuesOf(store, 'SELECT count(*) FROM completions')).toEqual([[20]])
    await expectConsistent(store)
  })

  test('reservations of one moment are made in their order, and a small one fits where a large one does not', async () => {
    const { store, ledger, reservation } = await fundedStore(open, 100n)
    const amounts = [60n, 50n, 30n, 20n, 10n]
    const made = await Promise.all(amounts.map((amount) => isReserved(ledger, reservation(amount))))
    expect(made).toEqual([true, false, true, false, true])
    await expectConsistent(store)
  })

  test('the usage of a request without a reservation is recorded once', async () => {
    const { store, ledger, request } = await fundedStore(open, 100n)
    const one = request()
    const options = { reserved: false }
    await Promise.all([1, 2, 3].map(() => ledger.settle(one, { status: 200, cost: 9n }, options)))
    await store.written()
    expect(await valuesOf(store, 'SELECT count(*), sum(cost) FROM usage')).toEqual([[1, expect.anything()]])
    expect(await valuesOf(store, 'SELECT balance FROM organizations')).toEqual([[100]])
  })

  test('a response that is removed while it is pinned is erased when it is released', async () => {
    const { store, responses, acme, answered, rows, insert } = await responseStore(open)
    const [parent, other] = [await answered(), await answered()]
    const [release, releaseOther] = [responses.pin(parent), responses.pin(other)]
    expect(await responses.remove(acme, parent)).toBe('removed')
    expect(await responses.remove(acme, other)).toBe('removed')
    expect(await responses.find(acme, parent)).toBeUndefined()
    expect(await rows()).toEqual([parent, other])
    const follower = finished(acme, parent)
    const inserted = insert(follower)
    release()
    releaseOther()
    await inserted
    while ((await rows()).length > 2) await store.written()
    expect(await rows()).toEqual([parent, follower.id])
    expect((await responses.chain(acme, follower.id))?.map(({ id }) => id)).toEqual([parent, follower.id])
  })

  test('texts of clients are stored, whatever characters they have', async () => {
    const { store, ledger, acme, organizations } = await fundedStore(open, 0n)
    const texts = ['\u0000', '\ud800', '"{}\\,', "'; DROP TABLE usage; --", 'é\u{1F600}', '']
    for (const user of texts)
      await ledger.settle({ ...requestOf(acme.id), user, tags: [user], trace: { user } }, { status: 200 })
    const id = completionId(moment)
    const messages = texts.map((content) => ({ role: 'user', content }))
    const completion = {
      id,
      organization: acme.id,
      model: 'm',
      metadata: { a: texts.join() },
      completion: {},
      messages,
    }
    await ledger.write([{ kind: 'insert-completion', completion }])
    expect(await valuesOf(store, 'SELECT count(*) FROM usage')).toEqual([[texts.length]])
    expect(JSON.parse((await store.completions.findMessages(acme.id, id)) ?? '')).toEqual(messages)
    const query = { organization: acme.id, order: 'asc', limit: 5 } as const
    const metadata = [['a', texts.join()]] as const
    expect((await store.completions.list({ ...query, metadata })).completions).toHaveLength(1)
    await organizations.credit('acme', 1n, 'a\u0000b')
  })

  test('an organization is found by its id and by its name, unless its deletion has begun', async () => {
    const { organizations } = await open()
    const acme = await organizations.create('acme')
    expect(await organizations.find('acme')).toEqual(acme)
    expect(await organizations.find(acme.id)).toEqual(acme)
    expect(await organizations.find('globex')).toBeUndefined()
    await organizations.beginDeletion('acme')
    expect(await organizations.find(acme.id)).toBeUndefined()
    expect(await organizations.find('acme')).toBeUndefined()
  })

  test('a change of a key takes effect at once after the directory is refreshed', async () => {
    const store = await open()
    await store.organizations.create('acme')
    const keys = store.keys()
    const { record } = await keys.create({ organization: 'acme', name: 'laptop', expiresAt: null })
    const directory = store.keyDirectory()
    await directory.find(record.id)
    await keys.revoke(record.id)
    expect((await directory.find(record.id))?.revokedAt).toBeNull()
    directory.refresh()
    expect((await directory.find(record.id))?.revokedAt).not.toBeNull()
  })
})
