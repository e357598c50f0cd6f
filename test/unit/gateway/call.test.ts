import { expect, test } from 'bun:test'
import { createBilling } from '../../../src/gateway/billing/billing.ts'
import { RouteSpeeds } from '../../../src/gateway/billing/unfinished-answer.ts'
import { Call } from '../../../src/gateway/call.ts'
import { createOpenCalls } from '../../../src/gateway/open-calls.ts'
import { createProviderStates } from '../../../src/gateway/provider-states.ts'
import { ReplySizes } from '../../../src/gateway/reply-room.ts'
import { callerOf, createLocalLimits } from '../../support/local-limits.ts'
import { upstreamBroken } from '../../../src/lib/errors/upstream-errors.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { createProviderState } from '../../../src/storage/scripts/provider-state.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { noWrites } from '../../../src/storage/ports/ledger.ts'
import { testStorage } from '../storage/support/folder.ts'
import { finished } from '../storage/support/response-fixture.ts'
import { modelsWith, provider, providersOf } from './support/model-fixtures.ts'
import { organization } from './support/organization.ts'

const limits = { requestsPerMinute: 100, tokensPerMinute: 1000, concurrentRequests: 1 }

/** A call, the rows that are written of it, and the log; `broken`: it stores a response, and nothing can be written. */
function scenario({ left = false, broken = false } = {}) {
  const { database, writer } = testStorage()
  database.sqlite.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_acme', 'acme', 0)")
  if (broken) writer.close()
  const lines: string[] = []
  const aborting = new AbortController()
  if (left) aborting.abort()
  const calls = createOpenCalls()
  const ledger = createLedger(database, writer)
  const parts = {
    billing: createBilling(ledger, () => undefined),
    calls,
    states: createProviderStates(createProviderState(createScriptRunner(database, writer))),
    replySizes: new ReplySizes(),
    speeds: new RouteSpeeds(),
    log: createLog((line) => void lines.push(line)),
  }
  const acme = organization()
  const [model] = modelsWith([], { providers: providersOf(provider('alpha')) }).enabled
  if (!model) throw new Error('There is no model.')
  const facts = { id: 'req_1', organization: acme.id, key: 'k', createdAt: 0 }
  const ends: unknown[] = []
  const call = new Call(
    {
      metadata: { ...facts, api: 'chat', stream: true },
      billing: acme.billing,
      budgets: [],
      admission: createLocalLimits(() => limits).admit(callerOf(acme), () => {}),
      model,
      generation: { messages: [], tools: [], extras: {} },
      stream: true,
      onSettled(error) {
        ends.push(error)
        return broken ? [{ kind: 'insert-response', response: finished(acme.id) }] : noWrites
      },
      signal: aborting.signal,
    },
    parts,
  )
  const rows = async () => {
    await ledger.flush()
    return database.sqlite.prepare('SELECT id, status, error FROM usage').values()
  }
  return { call, calls, leaving: aborting, ends, lines, rows }
}

test('only the first end of a call counts, and later ones wait for it', async () => {
  const { call, leaving: aborting, ends, rows } = scenario()
  const first = call.settle()
  expect(call.settle(new Error('late'))).toBe(first)
  aborting.abort()
  await first
  expect(ends).toEqual([undefined])
  expect(await rows()).toEqual([['req_1', 200, null]])
})

test('an error that ends a call is recorded', async () => {
  const { call, ends, rows } = scenario()
  const error = upstreamBroken('upstream_model_not_found', 'It has no such model.')
  await call.settle(error)
  expect(ends).toEqual([error])
  expect(await rows()).toEqual([['req_1', 502, 'upstream_model_not_found']])
})

test.each([false, true])('a client that disconnects ends the call; before it began: %p', async (left) => {
  const { call, leaving: aborting, ends, lines, rows } = scenario({ left })
  aborting.abort()
  expect(call.abortSource.reason).toMatchObject({ code: 'client_gone', status: 499 })
  await call.settle()
  expect(ends).toEqual([call.abortSource.reason])
  expect(await rows()).toEqual([['req_1', 499, 'client_gone']])
  expect(lines).toEqual([])
})

test('a call is open until it has ended, and one that is aborted gives the reason', async () => {
  const { call, calls, rows } = scenario()
  calls.rejectNew()
  expect(calls.abort()).toBe(1)
  await calls.idle()
  expect(calls.abort()).toBe(0)
  expect(call.abortSource.reason).toMatchObject({ code: 'interrupted' })
  await call.settle()
  expect(await rows()).toEqual([['req_1', 503, 'interrupted']])
})

test('a settlement that cannot be written is reported, also where it is not awaited', async () => {
  const { call, leaving: aborting, lines, rows } = scenario({ broken: true })
  aborting.abort()
  await expect(call.settle()).rejects.toMatchObject({ status: 503 })
  expect(lines.map((line) => JSON.parse(line).message)).toEqual([
    'The usage of a request could not be written yet.',
  ])
  expect(await rows()).toEqual([])
})
