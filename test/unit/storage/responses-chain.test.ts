import { expect, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { maxChainBytes, maxChainLinks } from '../../../src/storage/scripts/conversations.ts'
import { finished, responseStore } from './support/response-fixture.ts'
import { testStores } from './support/stores.ts'

const idsOf = (links: readonly { readonly id: string }[] | undefined) => links?.map(({ id }) => id)

testStores((open) => {
  test('a chain has the items that each response adds, oldest first', async () => {
    const { responses, acme, insert, answered: replied } = await responseStore(open)
    const oldest = { ...finished(acme, undefined, 'failed'), log: '["oldest"]\n' }
    await insert(oldest)
    const middle = await replied(oldest.id, { input: [{ type: 'item', é: '\u0000' }, { type: 'other' }] })
    const youngest = await replied(middle)
    await replied(middle)
    await replied(youngest)
    const links = await responses.chain(acme, youngest)
    expect(idsOf(links)).toEqual([oldest.id, middle, youngest])
    expect(links?.[0]).toEqual({
      id: oldest.id,
      head: oldest.head,
      input: [{ type: 'message', of: oldest.id }],
      log: '["oldest"]\n',
    })
    expect(links?.[1]?.input).toEqual([{ type: 'item', é: '\u0000' }, { type: 'other' }])
  })

  test('only a finished and visible response can be continued', async () => {
    const { responses, start, acme, answered: replied, queued, finish } = await responseStore(open)
    const id = await queued(await replied())
    expect(await responses.chain(acme, id)).toBeUndefined()
    await start(acme, id)
    expect(await responses.chain(acme, id)).toBeUndefined()
    await finish(acme, id, { status: 'incomplete', log: '' })
    expect(await responses.chain(acme, id)).toHaveLength(2)
    await replied(id)
    await responses.remove(acme, id)
    expect(await responses.chain(acme, id)).toBeUndefined()
    expect(await responses.chain(acme, 'resp_unknown')).toBeUndefined()
  })

  test('a run has its context while it is queued and active, also when its previous response is deleted', async () => {
    const { responses, start, acme, answered: replied, queued, finish } = await responseStore(open)
    const first = await replied()
    const id = await queued(first)
    expect(await responses.remove(acme, first)).toBe('removed')
    expect(idsOf(await responses.runContext(acme, id))).toEqual([first, id])
    await start(acme, id)
    expect(idsOf(await responses.runContext(acme, id))).toEqual([first, id])
    await finish(acme, id, { status: 'completed', log: '' })
    expect(await responses.runContext(acme, id)).toBeUndefined()
  })

  test('a chain of 100 is complete, whichever of its responses are deleted', async () => {
    const count = 100
    const { responses, acme, answeredInTurn } = await responseStore(open)
    const ids = await answeredInTurn(count)
    const last = ids[count - 1]!
    expect(idsOf(await responses.chain(acme, last))).toEqual(ids)
    for (const index of [count - 2, 0, 1, Math.floor(count / 2)]) {
      expect(await responses.remove(acme, ids[index]!)).toBe('removed')
      expect(idsOf(await responses.chain(acme, last))).toEqual(ids)
      expect(await responses.chain(acme, ids[index]!)).toBeUndefined()
    }
    expect(idsOf(await responses.chain(acme, ids[10]!))).toEqual(ids.slice(0, 11))
  })

  test('a chain that lost a response before its next one was stored is an error', async () => {
    const { responses, acme, answered: replied } = await responseStore(open)
    const [first, other] = [await replied(), await replied()]
    const second = await replied(first)
    await responses.remove(acme, other)
    const orphan = await replied(other)
    expect(await responses.chain(acme, orphan)).toBeUndefined()
    expect(await responses.find(acme, orphan)).toBeDefined()
    expect(await responses.chain(acme, second)).toHaveLength(2)
  })

  test('the longest chain is read, and a longer one is rejected', async () => {
    const { responses, acme, answeredInTurn } = await responseStore(open)
    const ids = await answeredInTurn(maxChainLinks + 1)
    const longest = await responses.chain(acme, ids[maxChainLinks - 1]!)
    expect(idsOf(longest)).toEqual(ids.slice(0, maxChainLinks))
    const refusal = await responses.chain(acme, ids[maxChainLinks]!).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ApiError)
    expect(refusal).toMatchObject({
      status: 400,
      param: 'previous_response_id',
      code: 'context_length_exceeded',
    })
  })

  test('a chain with more bytes than the limit is rejected', async () => {
    const { responses, acme, answered: replied } = await responseStore(open)
    const quarter = JSON.stringify('é'.repeat(maxChainBytes / 8 - 500))
    let id = await replied(undefined, { log: quarter })
    for (const _ of [2, 3, 4]) id = await replied(id, { log: quarter })
    expect(await responses.chain(acme, id)).toHaveLength(4)
    id = await replied(id, { log: quarter })
    expect(responses.chain(acme, id)).rejects.toThrow('the conversation is too long')
  })
})
