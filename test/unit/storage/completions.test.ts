import { describe, expect, test } from 'bun:test'
import {
  type CompletionQuery,
  type NewCompletion,
  sequenceAt,
  sequenceOf,
} from '../../../src/storage/ports/completions.ts'
import { completionId } from '../../support/completion-id.ts'
import { type OpenStore, testStores, valuesOf } from './support/stores.ts'

const moment = Date.UTC(2026, 5, 1)

/** A store with the organizations `acme` and `globex`. */
async function startStorage(open: OpenStore) {
  const store = await open()
  const { completions, organizations, ledger } = store
  const [acme, globex] = [await organizations.create('acme'), await organizations.create('globex')]

  /** Keeps one for `acme`, with what differs. */
  async function keep(more: Partial<NewCompletion> = {}): Promise<string> {
    const completion = {
      id: completionId(moment),
      organization: acme.id,
      model: 'acme/river',
      metadata: { kept: 'yes' },
      completion: { object: 'chat.completion' },
      messages: [{ role: 'user', content: 'Hello' }],
      ...more,
    }
    await ledger.write([{ kind: 'insert-completion', completion }])
    return completion.id
  }

  async function list(more: Partial<CompletionQuery> = {}): Promise<string[]> {
    const query: CompletionQuery = { organization: acme.id, metadata: [], order: 'asc', limit: 100, ...more }
    return (await completions.list(query)).completions.map(({ id }) => id)
  }

  const count = async () => (await valuesOf(store, 'SELECT count(*) FROM completions'))[0]?.[0]
  return { completions, organizations, acme: acme.id, globex: globex.id, keep, list, count }
}

testStores((open) => {
  describe('the position of a completion', () => {
    test('follows from its id, as long as numbers are exact', () => {
      expect(sequenceOf(completionId(moment, 5))).toBe(sequenceAt(moment) + 5)
      expect(sequenceOf(completionId(moment, 4095))).toBe(sequenceAt(moment + 1) - 1)
      expect(sequenceOf(completionId(Date.UTC(2089, 0, 1)))).toBeLessThan(Number.MAX_SAFE_INTEGER)
      for (const id of [
        '',
        'chatcmpl-',
        'chatcmpl-x',
        completionId(moment).slice(9),
        `${completionId(moment)}0`,
      ])
        expect(sequenceOf(id)).toBeUndefined()
    })
  })

  describe('a completion of another organization', () => {
    test('is neither found nor changed nor deleted', async () => {
      const { keep, list, completions, acme, globex } = await startStorage(open)
      const id = await keep()
      expect(await completions.find(globex, id)).toBeUndefined()
      expect(await completions.findMessages(globex, id)).toBeUndefined()
      expect(await completions.updateMetadata(globex, id, { kept: 'no' })).toBeUndefined()
      expect(await completions.remove(globex, id)).toBe(false)
      expect(await list({ organization: globex })).toEqual([])
      expect(await list({ organization: globex, model: 'acme/river' })).toEqual([])
      expect(await list({ organization: globex, metadata: [['kept', 'yes']] })).toEqual([])
      expect(await completions.find(acme, id)).toMatchObject({ id, metadata: '{"kept":"yes"}' })
    })

    test('takes no place on a page', async () => {
      const { keep, completions, acme, globex } = await startStorage(open)
      const own: string[] = []
      for (let number = 0; number < 6; number += 2) {
        own.push(await keep({ id: completionId(moment, number) }))
        await keep({ id: completionId(moment, number + 1), organization: globex })
      }
      for (const filter of [{}, { model: 'acme/river' }]) {
        const query = { organization: acme, metadata: [], order: 'asc', ...filter } as const
        const pages = [
          await completions.list({ ...query, limit: 2 }),
          await completions.list({ ...query, limit: 3 }),
        ]
        const listed = pages.map((page) => ({
          ids: page.completions.map(({ id }) => id),
          hasMore: page.hasMore,
        }))
        expect(listed).toEqual([
          { ids: own.slice(0, 2), hasMore: true },
          { ids: own, hasMore: false },
        ])
      }
    })

    test('is deleted with its organization', async () => {
      const { keep, list, count, organizations, globex } = await startStorage(open)
      const id = await keep()
      for (let number = 1; number < 150; number++)
        await keep({ id: completionId(moment, number), organization: globex })
      expect(await count()).toBe(150)
      await organizations.delete('globex')
      expect(await count()).toBe(1)
      await keep({ id: completionId(moment, 151), organization: globex })
      expect(await count()).toBe(1)
      expect(await list()).toEqual([id])
    })
  })

  describe('expired completions', () => {
    test('are deleted in steps of a bounded number of rows, the oldest first', async () => {
      const { keep, list, count, completions } = await startStorage(open)
      for (let number = 0; number < 250; number++) await keep({ id: completionId(moment - 1, number) })
      const young = await keep()
      expect([await completions.expire(moment - 1), await count()]).toEqual([0, 251])
      expect([await completions.expire(moment), await count()]).toEqual([100, 151])
      expect(await list({ limit: 1 })).toHaveLength(1)
      expect([await completions.expire(moment), await completions.expire(moment)]).toEqual([100, 50])
      expect([await completions.expire(moment), await count()]).toEqual([0, 1])
      expect(await list({ metadata: [['kept', 'yes']] })).toEqual([young])
    })

    test('are deleted in steps of bounded size, one at least', async () => {
      const { keep, completions } = await startStorage(open)
      const messages = [{ role: 'user', content: 'x'.repeat(1_500_000) }]
      for (let number = 0; number < 5; number++) await keep({ id: completionId(moment, number), messages })
      await keep({ id: completionId(moment, 5), messages: Array.from({ length: 4 }, () => messages[0]!) })
      const steps = []
      for (let gone = 1; gone > 0;) steps.push((gone = await completions.expire(moment + 1)))
      expect(steps).toEqual([2, 2, 1, 1, 0])
    })
  })

  describe('a completion without metadata', () => {
    test('is found by metadata for as long as it has some, and by its model always', async () => {
      const { keep, list, completions, acme } = await startStorage(open)
      const id = await keep({ metadata: {} })
      const other = await keep({ id: completionId(moment, 1) })
      const found = async (value: string, more: Partial<CompletionQuery> = {}) =>
        await list({ metadata: [['kept', value]], ...more })
      expect(await found('yes')).toEqual([other])
      expect(await list({ model: 'acme/river' })).toEqual([id, other])
      for (const kept of ['no', 'maybe']) {
        await completions.updateMetadata(acme, id, { kept })
        expect(await found(kept)).toEqual([id])
        expect(await found(kept, { model: 'acme/river' })).toEqual([id])
        expect(await found(kept, { model: 'acme/lake' })).toEqual([])
      }
      expect(await found('no')).toEqual([])
      await completions.updateMetadata(acme, id, {})
      expect(await found('maybe')).toEqual([])
      expect(await list({ model: 'acme/river' })).toEqual([id, other])
      expect(await completions.remove(acme, id)).toBe(true)
      expect(await list()).toEqual([other])
    })
  })

  test('of the same position as another one is listed once, before or after it', async () => {
    const { keep, list } = await startStorage(open)
    const ids = [await keep(), await keep(), await keep(), await keep()]
    const pages: string[] = []
    for (let after: string | undefined; ;) {
      const [id] = await list({ after, limit: 1 })
      if (id === undefined) break
      pages.push((after = id))
    }
    expect(pages.toSorted()).toEqual(ids.toSorted())
  })
})
