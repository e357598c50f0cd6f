import { describe, expect, test } from 'bun:test'
import { createBilling } from '../../../src/gateway/billing/billing.ts'
import { RouteSpeeds } from '../../../src/gateway/billing/unfinished-answer.ts'
import { createGateway } from '../../../src/gateway/gateway.ts'
import { createOpenCalls } from '../../../src/gateway/open-calls.ts'
import { createProviderStates } from '../../../src/gateway/provider-states.ts'
import { ReplySizes } from '../../../src/gateway/reply-room.ts'
import { callerOf, createLocalLimits } from '../../support/local-limits.ts'
import { CircuitBreaker } from '../../../src/gateway/routing/circuit-breaker.ts'
import { ProviderQueues } from '../../../src/gateway/routing/provider-queue.ts'
import { SessionRoutes } from '../../../src/gateway/routing/sessions.ts'
import { badRequest } from '../../../src/lib/errors/errors.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Protocol } from '../../../src/providers/protocols/protocol.ts'
import type { RemoteKind } from '../../../src/providers/provider.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { createProviderState } from '../../../src/storage/scripts/provider-state.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import type { Script } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { testStorage } from '../storage/support/folder.ts'
import { kindNamed, modelsWith, provider, providersOf } from './support/model-fixtures.ts'
import { organization } from './support/organization.ts'

const fault = new TypeError('undefined is not an object')
const broken = () => {
  throw fault
}

/** A gateway whose wire has a fault, with a breaker that opens at the first failure, and two routes. */
async function startFaulty(faults: (wire: Protocol) => Partial<Protocol>, script: Script) {
  const upstream = await createUpstream(script)
  const { database, writer } = testStorage()
  const remote = kindNamed('openai-compatible') as RemoteKind
  const kind = { ...remote, protocol: { ...remote.protocol, ...faults(remote.protocol) } }
  const breaker = new CircuitBreaker({ failures: 1, cooldown: 60_000 })
  const limits = createLocalLimits(() => ({
    requestsPerMinute: 100,
    tokensPerMinute: 1000,
    concurrentRequests: 1,
  }))
  const gateway = createGateway({
    billing: createBilling(createLedger(database, writer), () => undefined),
    calls: createOpenCalls(),
    log: silentLog,
    breaker,
    queues: new ProviderQueues(),
    sessions: new SessionRoutes(),
    retries: 3,
    states: createProviderStates(createProviderState(createScriptRunner(database, writer))),
    replySizes: new ReplySizes(),
    speeds: new RouteSpeeds(),
    firstEventTimeoutMs: 10_000,
  })
  const [model] = modelsWith([], {
    providers: providersOf(provider('alpha', { kind, baseUrl: upstream.url })),
  }).enabled
  if (!model) throw new Error('There is no model.')
  const { id, billing } = organization()
  const generation = { messages: [], tools: [], extras: {} }
  const common = {
    billing,
    budgets: [],
    model: { ...model, routes: [...model.routes, ...model.routes] },
    generation,
  }

  async function ask(number: number, stream: boolean): Promise<void> {
    const metadata = {
      id: `req_${number}`,
      organization: id,
      key: 'k',
      createdAt: 0,
      api: 'chat' as const,
      stream,
    }
    const admission = limits.admit(callerOf(organization()), () => {})
    const signal = new AbortController().signal
    const reply = await gateway.generate({ ...common, metadata, admission, stream, signal })
    await reply.forEach(() => {})
  }
  return { upstream, breaker, ask, [Symbol.asyncDispose]: upstream[Symbol.asyncDispose] }
}

const faulty: readonly (readonly [
  string,
  (wire: Protocol) => Partial<Protocol>,
  Script,
  stream: boolean,
  asked: number,
])[] = [
  ['renders a request', () => ({ render: broken }), jsonReply(), false, 0],
  ['writes a request that goes in circles', () => ({ render: circular }), jsonReply(), false, 0],
  ['reads an answer', () => ({ parse: broken }), jsonReply(), false, 1],
  ['reads a stream', ({ stream }) => ({ stream: { ...stream, step: broken } }), streamReply(), true, 1],
]

describe.each(faulty)('a bug of the gateway when it %s', (_, faults, script, stream, requested) => {
  test('is a 500 without retries that does not count as a failure of the route', async () => {
    await using scenario = await startFaulty(faults, script)
    for (const number of [1, 2, 3]) {
      const failure = await scenario.ask(number, stream).catch((error: unknown) => error)
      expect(failure).toMatchObject({ status: 500, code: 'internal_error' })
      expect((failure as Error).message).not.toContain('undefined')
      expect((failure as Error).cause).toBeInstanceOf(TypeError)
      expect(scenario.upstream.requests.length).toBe(requested * number)
    }
    expect(scenario.breaker.openCircuits()).toEqual([])
    await scenario.upstream.idle()
  })
})

test('an error that a protocol throws stays unchanged', async () => {
  const refused = badRequest('No.', 'invalid_value', 'messages')
  const render = () => {
    throw refused
  }
  await using scenario = await startFaulty(() => ({ render }), jsonReply())
  expect(scenario.ask(1, false)).rejects.toBe(refused)
})

function circular(): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  body.self = body
  return body
}
