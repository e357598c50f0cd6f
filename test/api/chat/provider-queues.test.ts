import { describe, expect, test } from 'bun:test'
import { nextTurn } from '../../../src/lib/time.ts'
import { queueRun, waitForRun } from '../../support/background.ts'
import { maxCost, replyCost, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError } from '../../support/chat-reply.ts'
import { after, waitForQueue } from '../../support/provider-queue.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { type Script, silence } from '../../support/script.ts'

const one = { concurrency: 1 }
const ask = (content: string) => ({ ...chatRequest, messages: [{ role: 'user', content }] })

/** The questions that the provider has received, in their order. */
function questions({ acme }: Pick<Scenario, 'acme'>): unknown[] {
  return acme.requests.map(({ body }) => (body as typeof chatRequest).messages[0]?.content)
}

/** The outcomes of the attempts of a request, with the names of the providers. */
async function attemptsOf({ app }: Scenario, reply: Response): Promise<string[]> {
  const { attempts } = await app.requestLines.of(reply)
  return (attempts as { provider: string; outcome: string }[]).map(
    ({ provider, outcome }) => `${provider} ${outcome}`,
  )
}

describe.concurrent('a provider with a limited number of slots', () => {
  test('serves keys in turns, and background runs last', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario([after(gate.promise, jsonReply()), streamReply()], {
      acme: one,
    })
    const { app, billing } = paid
    for (const name of ['busy', 'other']) await billing.fund(name, '1')
    const send = (organization: string, content: string) =>
      app.chat(
        { ...ask(content), stream: true },
        { headers: { authorization: `Bearer ${keys[organization]}` } },
      )
    const keys: Record<string, string> = {
      busy: await billing.keyOf('busy'),
      other: await billing.keyOf('other'),
    }
    const first = app.chat(ask('first'))
    await paid.acme.request(0)
    const run = await queueRun(app, { input: 'background' })
    const replies: Promise<Response>[] = []
    for (const [index, name] of ['busy 1', 'busy 2', 'busy 3', 'other 1', 'other 2'].entries()) {
      await waitForQueue(app, index + 1)
      replies.push(send(name.split(' ')[0] ?? '', name))
    }
    await waitForQueue(app, 6)
    gate.resolve()
    for (const reply of [first, ...replies]) await (await reply).text()
    expect((await waitForRun(app, run.id)).status).toBe('completed')
    const order = ['first', 'busy 1', 'other 1', 'busy 2', 'other 2', 'busy 3', 'background']
    expect(questions(paid)).toEqual(order)
  })

  test('never has more requests than slots, and all of fifty callers are served', async () => {
    let [open, peak] = [0, 0]
    const gate = Promise.withResolvers<void>()
    const counting: Script = {
      async play(socket, closed) {
        peak = Math.max(peak, ++open)
        await gate.promise
        await nextTurn()
        open--
        return jsonReply().play(socket, closed)
      },
    }
    await using scenario = await startScenario(counting, { acme: { concurrency: 4 } })
    const calls = Array.from({ length: 50 }, () => scenario.app.chat(chatRequest))
    await waitForQueue(scenario.app, 46)
    gate.resolve()
    const replies = await Promise.all(calls)
    expect([replies.every(({ status }) => status === 200), peak, scenario.acme.requests.length]).toEqual([
      true,
      4,
      50,
    ])
  })

  test('reports the time in its queue in server-timing and in the request log', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario([after(gate.promise, jsonReply()), jsonReply()], { acme: one })
    const first = scenario.app.chat(chatRequest)
    await scenario.acme.request(0)
    const second = scenario.app.chat(chatRequest)
    await waitForQueue(scenario.app, 1)
    gate.resolve()
    expect((await first).headers.get('server-timing')).toMatch(/^gateway;dur=[\d.]+, upstream;dur=[\d.]+$/)
    const reply = await second
    const [, queued = ''] =
      /^gateway;dur=[\d.]+, queue;dur=([\d.]+), upstream;dur=[\d.]+$/.exec(
        reply.headers.get('server-timing') ?? '',
      ) ?? []
    expect((await scenario.app.requestLines.of(reply)).queued_ms).toBe(Number(queued))
    const metrics = await (await scenario.app.request('/metrics')).text()
    expect(metrics).toContain('weir_provider_queue_wait_seconds_count{provider="acme"} 2\n')
    expect(metrics).toContain('weir_provider_slots{provider="acme"} 1\n')
    expect(metrics).toContain('weir_provider_slots_in_use{provider="acme"} 0\n')
  })

  test('rejects a request that has waited too long, and its circuit stays closed', async () => {
    const acme = { ...one, queue: { wait: '20ms' } }
    await using scenario = await startScenario([silence, jsonReply()], {
      acme,
      settings: { breaker: { failures: 1 } },
    })
    const leaving = new AbortController()
    const first = scenario.app.chat(chatRequest, { signal: leaving.signal }).catch(() => {})
    await scenario.acme.request(0)
    const rejected = await scenario.app.chat(chatRequest)
    expect(rejected.headers.get('retry-after')).toBe('1')
    expect(await attemptsOf(scenario, rejected)).toEqual(['acme provider_busy'])
    expect(await readError(rejected)).toEqual({
      status: 429,
      type: 'requests',
      code: 'provider_busy',
      param: null,
      message: 'The provider acme is busy, and too many requests wait for it. Try again in 1 second.',
    })
    leaving.abort()
    await first
    expect(await readCompletion(await scenario.app.chat(chatRequest))).toMatchObject({ provider: 'acme' })
  })

  test.each([
    ['whose queue is full', { length: 0 }],
    ['in whose queue a request has waited too long', { wait: '20ms' }],
  ])('%s is left for the next route', async (_, queue) => {
    await using scenario = await startScenario(silence, { acme: { ...one, queue }, other: [jsonReply()] })
    const leaving = new AbortController()
    const first = scenario.app.chat(chatRequest, { signal: leaving.signal }).catch(() => {})
    await scenario.acme.request(0)
    const reply = await scenario.app.chat(chatRequest)
    expect(await readCompletion(reply)).toMatchObject({ provider: 'other' })
    expect(await attemptsOf(scenario, reply)).toEqual(['acme provider_busy', 'other ok'])
    leaving.abort()
    await first
  })

  test('keeps a request that may not leave it after a rate limit', async () => {
    const routes = [
      { provider: 'acme', model: 'river-1', on: ['unavailable' as const] },
      { provider: 'other', model: 'river-2' },
    ]
    const acme = { ...one, queue: { length: 0 } }
    await using scenario = await startScenario(silence, { acme, other: [jsonReply()], model: { routes } })
    const leaving = new AbortController()
    const first = scenario.app.chat(chatRequest, { signal: leaving.signal }).catch(() => {})
    await scenario.acme.request(0)
    expect(await readError(await scenario.app.chat(chatRequest))).toMatchObject({ code: 'provider_busy' })
    expect(scenario.other.requests).toHaveLength(0)
    leaving.abort()
    await first
  })

  test('holds the reservation of a request that waits, and frees it and the place when the client leaves', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario([after(gate.promise, jsonReply()), jsonReply()], {
      acme: one,
    })
    const { app, acme, billing } = paid
    const first = app.chat(chatRequest)
    await acme.request(0)
    const leaving = new AbortController()
    const second = app.chat(chatRequest, { signal: leaving.signal }).catch(() => 'left')
    await waitForQueue(app, 1)
    expect((await billing.account())[1]).toBe(2 * maxCost)
    leaving.abort()
    expect(await second).toBe('left')
    await waitForQueue(app, 0)
    gate.resolve()
    await (await first).text()
    await billing.waitForUsage(2)
    expect([acme.requests.length, await billing.account()]).toEqual([1, [1e9 - replyCost, 0]])
    await billing.expectConsistent()
  })
})
