import { expect, test } from 'bun:test'
import { createBilling } from '../../../src/gateway/billing/billing.ts'
import { RouteSpeeds } from '../../../src/gateway/billing/unfinished-answer.ts'
import { createGateway } from '../../../src/gateway/gateway.ts'
import type { GenerationStream } from '../../../src/gateway/generate-request.ts'
import { createOpenCalls } from '../../../src/gateway/open-calls.ts'
import { createProviderStates } from '../../../src/gateway/provider-states.ts'
import { ReplySizes } from '../../../src/gateway/reply-room.ts'
import { callerOf, createLocalLimits } from '../../support/local-limits.ts'
import { CircuitBreaker } from '../../../src/gateway/routing/circuit-breaker.ts'
import { ProviderQueues } from '../../../src/gateway/routing/provider-queue.ts'
import { SessionRoutes } from '../../../src/gateway/routing/sessions.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { createProviderState } from '../../../src/storage/scripts/provider-state.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { chunks, delta, streamReply } from '../../support/chat-fixtures.ts'
import { breakOff, reset, type Script } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { testStorage } from '../storage/support/folder.ts'
import { modelsWith, provider, providersOf } from './support/model-fixtures.ts'
import { organization } from './support/organization.ts'

const gate = Promise.withResolvers<void>()
const endless = chunks([delta({ content: 'It is' }), new Promise(() => {})])

function read(replying: GenerationStream): Promise<void> {
  return replying.forEach((batch) => expect(batch.length).toBeGreaterThan(0))
}

/** Each gets the answer and what makes the caller leave. */
type Way = (answering: GenerationStream, leave: () => void) => unknown

const ways: readonly (readonly [string, Script, Way])[] = [
  ['was read to its end', streamReply(), read],
  [
    'broke in the middle',
    chunks([delta({ content: 'It is' }), gate.promise], breakOff),
    (reply) => {
      gate.resolve()
      return read(reply).catch(() => {})
    },
  ],
  ['was closed before it was read', endless, (reply) => reply.close()],
  ['was closed after a part', endless, (reply) => reply.forEach(() => reply.close())],
  ['was aborted before it was read', endless, (_, leave) => leave()],
  [
    'was aborted while it was awaited',
    endless,
    async (reply, leave) => {
      const opening = Promise.withResolvers<void>()
      const reading = reply.forEach(() => opening.resolve())
      await opening.promise
      leave()
      await expect(reading).rejects.toMatchObject({ code: 'client_gone' })
    },
  ],
]

test.each(ways)(
  'a stream that %s holds no concurrency slot, and its upstream call has ended',
  async (_, script, way) => {
    await using scenario = await startScenario(script)
    const aborting = new AbortController()
    const reply = await scenario.ask(aborting.signal)
    expect(scenario.opened()).toBe(false)
    await way(reply, () => aborting.abort())
    expect(scenario.opened()).toBe(true)
    await scenario.upstream.idle()
  },
)

test('a call that no provider serves holds no concurrency slot', async () => {
  await using scenario = await startScenario(reset)
  await expect(scenario.ask(new AbortController().signal)).rejects.toMatchObject({ status: 502 })
  await scenario.upstream.idle()
  expect(scenario.opened()).toBe(true)
})

test('a client that disconnected before its call began holds no concurrency slot, and no provider is called', async () => {
  await using scenario = await startScenario(streamReply())
  await expect(scenario.ask(AbortSignal.abort())).rejects.toMatchObject({ code: 'client_gone' })
  expect(scenario.opened()).toBe(true)
  expect(scenario.upstream.requests).toEqual([])
})

/** A gateway that allows one call at once, and whether it is free. */
async function startScenario(script: Script) {
  const upstream = await createUpstream(script)
  const { database, writer } = testStorage()
  const limits = createLocalLimits(
    () => ({ requestsPerMinute: 100, tokensPerMinute: 1000, concurrentRequests: 1 }),
    () => 0,
  )
  const gateway = createGateway({
    billing: createBilling(createLedger(database, writer), () => undefined),
    calls: createOpenCalls(),
    log: silentLog,
    breaker: new CircuitBreaker({ failures: 5, cooldown: 1000 }),
    queues: new ProviderQueues(),
    sessions: new SessionRoutes(),
    retries: 0,
    states: createProviderStates(createProviderState(createScriptRunner(database, writer))),
    replySizes: new ReplySizes(),
    speeds: new RouteSpeeds(),
    firstEventTimeoutMs: 10_000,
  })
  // So long that no deadline ends a call here.
  const timeouts = { connect: 60_000, firstByte: 60_000, idle: 60_000 }
  const providers = providersOf(provider('alpha', { baseUrl: upstream.url, timeouts }))
  const [model] = modelsWith([], { providers }).enabled
  if (!model) throw new Error('There is no model.')
  const admit = () => limits.admit(callerOf(organization()), () => {})
  const generation = { messages: [], tools: [], extras: {} }
  const { id, billing } = organization()
  const facts = { organization: id, key: 'k', createdAt: 0, api: 'chat' as const, stream: true }
  const common = {
    metadata: { id: 'req_1', ...facts },
    billing,
    budgets: [],
    model,
    generation,
    stream: true,
  }

  return {
    upstream,
    ask: (signal: AbortSignal) => gateway.generate({ ...common, admission: admit(), signal }),
    opened() {
      try {
        admit().open(1).release(1)
        return true
      } catch {
        return false
      }
    },
    [Symbol.asyncDispose]: upstream[Symbol.asyncDispose],
  }
}

test('a call that is aborted after the last token of its output does not end as complete', async () => {
  await using scenario = await startScenario(streamReply())
  const aborting = new AbortController()
  const reply = await scenario.ask(aborting.signal)
  const events: string[] = []
  const reading = reply.forEach((batch) => {
    events.push(...batch.map(({ type }) => type))
    if (events.includes('finish')) aborting.abort()
  })
  await expect(reading).rejects.toMatchObject({ code: 'client_gone' })
  expect(events).toContain('finish')
  expect(scenario.opened()).toBe(true)
  await scenario.upstream.idle()
})
