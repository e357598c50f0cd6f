import { describe, expect, test } from 'bun:test'
import { noLimits } from '../../../src/domain/accounting/allowance.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { maxCost, replyCost } from '../../support/billing-scenario.ts'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { readError, readStreamed } from '../../support/chat-reply.ts'
import { anthropicReply, messageRequest } from '../../support/messages.ts'
import { chatRequest } from '../../support/scenario.ts'
import { silence } from '../../support/script.ts'
import { startBudgets } from './support/budget-scenario.ts'

const chat = '/v1/chat/completions'

describe('a budget of a key', () => {
  test.each([false, true])(
    'covers a request of exactly its amount, and charges its cost; streamed: %p',
    async (stream) => {
      await using scenario = await startBudgets(stream ? streamReply() : jsonReply())
      const key = await scenario.keyWith({ budget: BigInt(maxCost) })
      const reply = await key.post(chat, { ...chatRequest, stream })
      if (stream) expect((await readStreamed(reply)).done).toBe(true)
      else expect(reply.status).toBe(200)
      await scenario.billing.waitForUsage(1)
      expect(await key.use()).toEqual([replyCost, 0, 0])
      expect(await scenario.billing.account()).toEqual([1e9 - replyCost, 0])
      const next = await readError(await key.post(chat, chatRequest))
      expect(next.message).toBe(
        'Budget exceeded: this request may cost up to 0.001087 USD, and 0.001025 USD of 0.001087 USD are left of the budget of the key “agent”. Raise the budget, or send a smaller max_tokens.',
      )
      await scenario.billing.expectConsistent()
    },
  )

  test('does not cover a request of a nano-dollar more, and a smaller one passes', async () => {
    await using scenario = await startBudgets(jsonReply())
    const key = await scenario.keyWith({ budget: BigInt(maxCost - 1) })
    expect((await key.post(chat, chatRequest)).status).toBe(402)
    expect((await key.post(chat, { ...chatRequest, max_tokens: 99 })).status).toBe(200)
    expect(scenario.acme.requests).toHaveLength(1)
  })

  test('lets exactly as many of 200 requests at once reach the provider as it covers', async () => {
    await using scenario = await startBudgets(silence, {
      settings: { limits: { requests_per_minute: 10_000, concurrent_requests: 1000 } },
    })
    const key = await scenario.keyWith({ budget: BigInt(7 * maxCost + maxCost - 1) })
    const abort = new AbortController()
    const replies = Array.from({ length: 200 }, () =>
      key.post(chat, chatRequest, { signal: abort.signal }).then(
        ({ status }) => status,
        () => 'aborted',
      ),
    )
    let refused = 0
    for (const reply of replies) void reply.then((status) => (refused += status === 402 ? 1 : 0))
    await waitUntil(() => refused === 193, '193 requests were refused')
    await scenario.acme.request(6)
    expect(await key.use()).toEqual([0, 7 * maxCost, 0])
    abort.abort()
    const ended = await Promise.all(replies)
    expect(ended.filter((status) => status === 'aborted')).toHaveLength(7)
    await waitUntil(async () => (await scenario.billing.openReservations()) === 0, 'all are settled')
    expect(scenario.acme.requests).toHaveLength(7)
    expect((await key.use()).slice(1)).toEqual([0, 0])
    await scenario.billing.expectConsistent()
  })

  test('that is lowered refuses the next request, and one that is raised serves it', async () => {
    await using scenario = await startBudgets(jsonReply())
    const key = await scenario.keyWith({ budget: BigInt(10 * maxCost) })
    expect((await key.post(chat, chatRequest)).status).toBe(200)
    await scenario.billing.keys.change(key.id, { budget: BigInt(replyCost) })
    // Another process has changed it, so that a cached key may be a second old.
    await waitUntil(async () => (await key.post(chat, chatRequest)).status === 402, 'it is lowered')
    await scenario.billing.keys.change(key.id, { budget: BigInt(10 * maxCost) })
    await waitUntil(async () => (await key.post(chat, chatRequest)).status === 200, 'it is raised')
  })

  test('reserves the price of the tier that is requested', async () => {
    const fast = {
      strategy: 'service_tier',
      service_tier: 'priority',
      pricing: { input: 2, output: 30 },
    } as const
    await using scenario = await startBudgets(jsonReply(), { model: { fast } })
    const key = await scenario.keyWith({ budget: BigInt(87 * 2000 + 100 * 30_000 - 1) })
    expect((await key.post(chat, { ...chatRequest, service_tier: 'priority' })).status).toBe(402)
    expect((await key.post(chat, { ...chatRequest, performance_mode: 'fast' })).status).toBe(402)
    expect(scenario.acme.requests).toEqual([])
    expect((await key.post(chat, chatRequest)).status).toBe(200)
  })

  test('refuses a model without a price, also in an unmetered organization', async () => {
    await using scenario = await startBudgets(jsonReply(), { model: { pricing: undefined } })
    await scenario.billing.fund('default', '0', 'unmetered')
    const key = await scenario.keyWith({ budget: 10n ** 12n })
    expect(await readError(await key.post(chat, chatRequest))).toMatchObject({
      status: 402,
      code: 'billing_not_configured',
      message: 'The model acme/river has no price, so it is not available to a key with a budget.',
    })
    const free = await scenario.keyWith()
    expect((await free.post(chat, chatRequest)).status).toBe(200)
    expect(scenario.acme.requests).toHaveLength(1)
  })
})

test('a tool that the provider runs has no price, so a key with a budget cannot use it', async () => {
  await using scenario = await startBudgets(anthropicReply([{ type: 'text', text: 'It is four metres.' }]), {
    acme: { kind: 'anthropic' },
  })
  await scenario.billing.fund('default', '0', 'unmetered')
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  const limited = await scenario.keyWith({ budget: 10n ** 12n })
  const reply = await limited.post('/v1/messages', { ...messageRequest, tools })
  expect(reply.status).toBe(402)
  expect(await reply.text()).toContain(
    'web_search_20250305 has no price, so a key with a budget cannot use it.',
  )
  expect(scenario.acme.requests).toEqual([])
  const free = await scenario.keyWith()
  expect((await free.post('/v1/messages', { ...messageRequest, tools })).status).toBe(200)
})

describe.each(['organization', 'project', 'key'] as const)('the budget of the %s', (kind) => {
  test.each(['prepaid', 'unmetered'] as const)(
    'applies to each request, and is named in the refusal (%s)',
    async (mode) => {
      await using scenario = await startBudgets(jsonReply())
      const { billing } = scenario
      await billing.fund('default', '0', mode)
      const budget = BigInt(maxCost)
      const project = await billing.projects.create({
        organization: 'default',
        name: 'research',
        ...(kind === 'project' && { budget }),
      })
      if (kind === 'organization') await billing.organizations.change('default', { budget })
      const key = await scenario.keyWith({ project: project.id, ...(kind === 'key' && { budget }) })
      expect((await key.post(chat, chatRequest)).status).toBe(200)
      await billing.waitForUsage(1)
      const { status, code, message } = await readError(await key.post(chat, chatRequest))
      expect([status, code]).toEqual([402, 'budget_exceeded'])
      const name = { organization: 'default', project: 'research', key: 'agent' }[kind]
      expect(message).toContain(`of the budget of the ${kind} “${name}”.`)
      expect(scenario.acme.requests).toHaveLength(1)
      const spent = mode === 'prepaid' ? replyCost : 0
      expect(await billing.account()).toEqual([1e9 - spent, 0])
      expect(await (await key.get('/v1/organization')).json()).toMatchObject({
        project: { id: project.id, name: 'research' },
        budgets: [
          {
            owner: kind,
            name,
            limit_usd: '0.001087',
            period: 'none',
            spent_usd: '0.000062',
            reserved_usd: '0.00',
            left_usd: '0.001025',
            resets_at: null,
          },
        ],
      })
      await billing.expectConsistent()
    },
  )
})

test('a key without a budget of its own in a project without one reserves nothing in an unmetered organization', async () => {
  await using scenario = await startBudgets(jsonReply())
  await scenario.billing.fund('default', '0', 'unmetered')
  const project = await scenario.billing.projects.create({ organization: 'default', name: 'research' })
  const key = await scenario.keyWith({ ...noLimits, project: project.id })
  expect((await key.post(chat, chatRequest)).status).toBe(200)
  await scenario.billing.waitForUsage(1)
  expect(await scenario.billing.count('budgets')).toBe(0)
})

describe('a budget with a period', () => {
  const midnight = Date.UTC(2026, 10, 26)

  test.each([
    ['day', midnight - 90_000, '90', '2026-11-26T00:00:00Z'],
    ['day', midnight - 3_600_000, null, '2026-11-26T00:00:00Z'],
    ['week', midnight, null, '2026-11-30T00:00:00Z'],
    ['month', Date.UTC(2026, 10, 30, 23, 59, 59, 1), '1', '2026-12-01T00:00:00Z'],
  ] as const)(
    'of a %s says when it is reset, and for how long to wait if that is soon',
    async (budgetPeriod, now, wait, at) => {
      await using scenario = await startBudgets(jsonReply(), { now: () => now })
      const key = await scenario.keyWith({ budget: 1n, budgetPeriod })
      const reply = await key.post(chat, chatRequest)
      expect(reply.headers.get('retry-after')).toBe(wait)
      expect(reply.headers.get('x-should-retry')).toBe('false')
      const { message } = await readError(reply)
      expect(message).toContain(`0.000000001 USD of 0.000000001 USD per ${budgetPeriod} are left`)
      expect(message).toEndWith(`It is reset at ${at}.`)
    },
  )

  test('begins again with the next one, and charges a request to that of its reservation', async () => {
    const clock = { now: midnight - 1 }
    await using scenario = await startBudgets([silence, jsonReply()], { now: () => clock.now })
    const key = await scenario.keyWith({ budget: BigInt(maxCost), budgetPeriod: 'day' })
    const abort = new AbortController()
    const open = key.post(chat, chatRequest, { signal: abort.signal }).catch(() => {})
    await scenario.acme.request(0)
    expect((await key.post(chat, chatRequest)).status).toBe(402)
    clock.now = midnight
    expect((await key.post(chat, chatRequest)).status).toBe(200)
    abort.abort()
    await open
    await scenario.billing.waitForUsage(3)
    const used = await scenario.billing.values(
      'SELECT start, reserved, spent > 0 FROM budgets ORDER BY start',
    )
    expect(used.map((row) => row.map(Number))).toEqual([
      [midnight - 86_400_000, 0, 1],
      [midnight, 0, 1],
    ])
    // The clock of this server is set back: what was spent of the period still counts.
    clock.now = midnight - 1
    expect((await key.post(chat, { ...chatRequest, max_tokens: 100 })).status).toBe(402)
    await scenario.billing.expectConsistent()
  })

  test('ends at midnight of its time zone', async () => {
    await using scenario = await startBudgets(jsonReply(), { now: () => Date.UTC(2026, 10, 25, 22, 59) })
    const zone = { budgetPeriod: 'day', budgetTimeZone: 'Europe/Berlin' } as const
    const reply = await (await scenario.keyWith({ budget: 0n, ...zone })).post(chat, chatRequest)
    expect(reply.headers.get('retry-after')).toBe('60')
    expect((await readError(reply)).message).toEndWith('It is reset at 2026-11-25T23:00:00Z.')
  })
})
