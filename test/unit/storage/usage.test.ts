import { expect, test } from 'bun:test'
import { testStores } from './support/stores.ts'
import { usageStorage } from './support/usage-fixture.ts'

const day = 86_400_000

testStores((open) => {
  const storage = () => usageStorage(open)

  test('the usage row of a request has every known field', async () => {
    const { store, add, acme } = await storage()
    const usage = {
      promptTokens: 1000,
      completionTokens: 200,
      cachedTokens: 300,
      cacheWriteTokens: 40,
      longCacheWriteTokens: 5,
      reasoningTokens: 60,
      estimated: true,
    }
    const facts = {
      id: 'req_1',
      api: 'responses',
      model: 'a/b',
      stream: true,
      performanceMode: 'fast',
    } as const
    const attribution = { project: 'proj_1', user: 'ada', session: 's' }
    await add(
      { ...facts, ...attribution, tags: ['x'], trace: { id: 't', name: 'é' } },
      {
        usage,
        cost: 123n,
        latency: 12.6,
        firstToken: 3.2,
        status: 200,
        error: 'upstream_timeout',
        details: { message: 'Late.' },
      },
    )
    expect(await store.rows('SELECT * FROM usage')).toEqual([
      {
        id: 'req_1',
        organization_id: acme.id,
        key_id: 'abcdefghijkl',
        created_at: 5 * day,
        api: 'responses',
        model: 'a/b',
        provider: 'openai',
        upstream_model: 'm',
        stream: 1,
        prompt_tokens: 1000,
        completion_tokens: 200,
        cached_tokens: 300,
        cache_write_tokens: 40,
        reasoning_tokens: 60,
        estimated: 1,
        cost: 123,
        latency_ms: 13,
        first_token_ms: 3,
        status: 200,
        error: 'upstream_timeout',
        performance_mode: 'fast',
        user: 'ada',
        tags: '["x"]',
        trace: '{"id":"t","name":"é"}',
        project_id: 'proj_1',
        session: 's',
        details: '{"message":"Late."}',
      },
    ])
  })

  test('a request that failed before its output has a usage row too, without the fields it did not reach', async () => {
    const { store, ledger, request } = await storage()
    await ledger.settle(request(), { status: 404, error: 'model_not_found' })
    expect((await store.rows('SELECT * FROM usage'))[0]).toMatchObject({
      model: null,
      provider: null,
      upstream_model: null,
      prompt_tokens: 0,
      completion_tokens: 0,
      estimated: 0,
      cost: null,
      latency_ms: null,
      first_token_ms: null,
      status: 404,
      tags: null,
      trace: null,
      user: null,
      project_id: null,
      session: null,
    })
  })

  test('a report sums tokens, costs and failures, and a broken stream is a failure', async () => {
    const { add, report } = await storage()
    const usage = {
      promptTokens: 10,
      completionTokens: 5,
      cachedTokens: 4,
      reasoningTokens: 3,
      estimated: false,
    }
    await add({ model: 'a/b' }, { usage })
    await add({ model: 'a/b' }, { usage, error: 'upstream_unavailable' })
    await add({ model: 'a/b' }, { usage: undefined, cost: undefined, status: 499, error: 'client_gone' })
    await add({ model: 'a/b' }, { usage: undefined, cost: undefined, status: 400 })
    const sums = {
      requests: 4,
      failed: 3,
      promptTokens: 20,
      completionTokens: 10,
      cachedTokens: 8,
      reasoningTokens: 6,
      clientErrors: 1,
      serverErrors: 0,
      unpriced: 0,
      latency: null,
      firstToken: null,
    }
    expect(await report('model')).toEqual({
      groups: [{ values: ['a/b'], names: {}, ...sums, cost: 100n }],
      total: { ...sums, cost: 100n },
    })
  })

  test('requests are counted by model and provider, the most expensive first', async () => {
    const { add, groups } = await storage()
    await add({ model: 'a/cheap' })
    await add({ model: 'a/dear' }, { cost: 70n, provider: 'azure' })
    await add({ model: 'a/cheap' }, { cost: 10n })
    await add({}, { cost: undefined, provider: undefined, status: 404 })
    expect(await groups('model')).toEqual([
      ['a/dear', 1, 70n],
      ['a/cheap', 2, 60n],
      [null, 1, null],
    ])
    expect(await groups('provider')).toEqual([
      ['azure', 1, 70n],
      ['openai', 2, 60n],
      [null, 1, null],
    ])
  })

  test('requests are counted by organization and by key, with the name of the key', async () => {
    const { add, groups, report, other, keys } = await storage()
    const { record } = await keys.create({ organization: 'acme', name: 'laptop', expiresAt: null })
    await add({ key: record.id })
    await add({ organization: other.id, key: 'unknownkey00' }, { cost: 9n })
    expect(await groups('org')).toEqual([
      ['acme', 1, 50n],
      ['other', 1, 9n],
    ])
    const byKey = (await report('key')).groups.map(({ values, names }) => [values[0], names.key])
    expect(byKey).toEqual([
      [record.id, 'laptop'],
      ['unknownkey00', null],
    ])
  })

  test('a request counts under each of its tags once, and once in the total', async () => {
    const { add, groups, report } = await storage()
    await add({ tags: ['blue', 'red', 'blue'] })
    await add({ tags: ['red', 'null', '5'] })
    await add({ tags: [] })
    await add()
    const byTag = await groups('tag')
    expect(byTag).toEqual([
      [null, 2, 100n],
      ['red', 2, 100n],
      ['5', 1, 50n],
      ['blue', 1, 50n],
      ['null', 1, 50n],
    ])
    expect((await report('tag')).total).toMatchObject({ requests: 4, cost: 200n })
  })

  test('a report covers the requested time: from its first millisecond to before its last', async () => {
    const { add, report } = await storage()
    for (const createdAt of [999, 1000, 1999, 2000]) await add({ createdAt })
    expect((await report('model', { since: 1000, until: 2000 })).total.requests).toBe(2)
    expect((await report('model', { since: 1000 })).total.requests).toBe(3)
    expect(await report('model', { since: 3000 })).toEqual({
      groups: [],
      total: {
        requests: 0,
        failed: 0,
        promptTokens: 0,
        completionTokens: 0,
        cachedTokens: 0,
        reasoningTokens: 0,
        clientErrors: 0,
        serverErrors: 0,
        unpriced: 0,
        latency: null,
        firstToken: null,
        cost: 0n,
      },
    })
  })

  test('a report of one organization contains nothing of another', async () => {
    const { add, groups, report, other } = await storage()
    await add({ model: 'a/b', tags: ['mine'] })
    await add({ organization: other.id, model: 'c/d', tags: ['theirs'] })
    const plainRequest = { organization: 'acme' }
    expect(await groups('model', plainRequest)).toEqual([['a/b', 1, 50n]])
    expect(await groups('tag', plainRequest)).toEqual([['mine', 1, 50n]])
    expect(await groups('org', plainRequest)).toEqual([['acme', 1, 50n]])
    expect((await report('model', plainRequest)).total.requests).toBe(1)
    await expect(report('model', { organization: 'nobody' })).rejects.toThrow('There is no organization')
  })

  test('costs whose sum exceeds exact numbers are summed to the nano-dollar', async () => {
    const { add, report } = await storage()
    const max = BigInt(Number.MAX_SAFE_INTEGER)
    for (const cost of [max, max, 3n]) await add({}, { cost })
    const { groups, total } = await report('model')
    expect([groups[0]?.cost, total.cost]).toEqual([2n * max + 3n, 2n * max + 3n])
  })
})
