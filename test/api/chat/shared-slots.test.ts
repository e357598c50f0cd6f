import { describe, expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { after, waitForQueue } from '../../support/provider-queue.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const weighted = {
  routes: [
    { provider: 'acme', model: 'river-1', weight: 1 },
    { provider: 'other', model: 'river-2', weight: 1 },
  ],
}

/** Two engines with one slot each, which share a model by weight. Each keeps its first request until its gate opens. */
async function startEngines(affinity: 'session' | 'none') {
  const gates = { acme: Promise.withResolvers<void>(), other: Promise.withResolvers<void>() }
  const scenario = await startScenario([after(gates.acme.promise, jsonReply()), jsonReply()], {
    provider: { concurrency: 1 },
    model: { ...weighted, affinity },
    other: [after(gates.other.promise, jsonReply()), jsonReply()],
  })
  return { scenario, open: (name: 'acme' | 'other') => gates[name].resolve() }
}

const providerOf = (reply: Response) => reply.headers.get('x-weir-route')?.split('/')[0]

describe.concurrent('routes with slots that share a model by weight', () => {
  test('serve a request where a slot is free, and else where one is free first', async () => {
    const { scenario, open } = await startEngines('none')
    await using _ = scenario
    const { app, acme, other } = scenario
    const replies = [app.chat(chatRequest), app.chat(chatRequest)]
    await Promise.all([acme.request(0), other.request(0)])
    replies.push(app.chat(chatRequest))
    await Promise.all([waitForQueue(app, 1, 'acme'), waitForQueue(app, 1, 'other')])
    open('other')
    expect(providerOf(await replies[2]!)).toBe('other')
    await Promise.all([waitForQueue(app, 0, 'acme'), waitForQueue(app, 0, 'other')])
    open('acme')
    const served = (await Promise.all(replies)).map(providerOf)
    expect(served.filter((name) => name === 'other')).toHaveLength(2)
  })

  test('keep a session that waits a little, and serve it elsewhere if that is not enough', async () => {
    const { scenario, open } = await startEngines('session')
    await using _ = scenario
    const { app } = scenario
    const turn = () => app.chat(chatRequest, { headers: { 'x-session-id': 'one' } })
    const first = turn()
    const [home, elsewhere] = await Promise.race([
      scenario.acme.request(0).then(() => ['acme', 'other'] as const),
      scenario.other.request(0).then(() => ['other', 'acme'] as const),
    ])
    const second = turn()
    await waitForQueue(app, 1, home)
    // The other engine has a free slot all the time; the second turn takes it after two seconds.
    await scenario[elsewhere].request(0)
    open(elsewhere)
    expect(providerOf(await second)).toBe(elsewhere)
    open(home)
    expect(providerOf(await first)).toBe(home)
  })
})

test('a reload with more slots admits requests that wait, and keeps those that are in use', async () => {
  const gate = Promise.withResolvers<void>()
  const acme = { concurrency: 1 }
  await using scenario = await startScenario(after(gate.promise, jsonReply()), { acme })
  const { app } = scenario
  const replies = [app.chat(chatRequest)]
  await scenario.acme.request(0)
  replies.push(app.chat(chatRequest), app.chat(chatRequest))
  await waitForQueue(app, 2)
  const { settings } = app.runtime.configuration()
  const { acme: entry } = settings.providers
  const providers = { ...settings.providers, acme: { ...entry, concurrency: 2 } }
  await app.runtime.reload({ settings: { ...settings, providers }, file: null, environment: {} })
  await scenario.acme.request(1)
  await waitForQueue(app, 1)
  gate.resolve()
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200])
})
