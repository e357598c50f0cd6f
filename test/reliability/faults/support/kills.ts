import { expect } from 'bun:test'
import { parseUsd } from '../../../../src/lib/usd.ts'
import { waitUntil } from '../../../support/billing-database.ts'
import { faultyProvider } from '../../money/support/faulty-provider.ts'
import { createGatewayProcess, type GatewayProcess } from '../../money/support/gateway-process.ts'
import { pricing } from '../../../support/billing-scenario.ts'
import { streamReply, jsonReply } from '../../../support/chat-fixtures.ts'
import { readEvents } from '../../../support/responses.ts'
import type { Script } from '../../../support/script.ts'
import { createUpstream } from '../../../support/upstream.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import {
  type SendRequest,
  isFinished,
  runUntilKilled,
  type Acknowledged,
  type AcknowledgedObject,
} from './kill-client.ts'

/** What there was to be lost. */
export type Killed = {
  readonly kills: number
  readonly stored: number
  readonly gone: number
  readonly paid: number
}

const clients = 12
/** Milliseconds: the gateway is killed within them. */
const maxLife = 350
/** The gateway is not killed before it has acknowledged so many objects, and as many paid requests. */
const minAcknowledged = 12
/** How many of the objects acknowledged before the last process are looked up again. */
const oldOnes = 20

/**
 * Kills the gateway this many times while clients send all kinds of requests, and restarts it each time. Throws
 * if something acknowledged is missing, a run stays in progress, or the billing is inconsistent.
 */
export async function killUnderLoad(
  kills: number,
  seed: string,
  received?: (kills: number) => void,
): Promise<Killed> {
  const draw = randomFrom(seed)
  await using upstream = await createUpstream(mostlyGood(draw))
  await using gateway = await createGatewayProcess(upstream.url, pricing, { background: { concurrency: 8 } })
  await gateway.books.fund('acme', '1000')
  const ask = asker(gateway, await gateway.books.keyOf('acme'))
  const memory: Acknowledged = { stored: [], paid: new Map() }
  for (let kill = 0; kill < kills; kill++) {
    const [stored, paid] = [memory.stored.length, memory.paid.size]
    await gateway.start()
    await liveOnce(gateway, ask, memory, draw)
    await gateway.books.expectConsistent()
    await gateway.start()
    await expectKept(ask, since(memory.stored, stored, draw))
    await expectPaid(gateway, [...memory.paid].slice(paid))
    await gateway.kill()
    received?.(kill + 1)
  }
  await gateway.start()
  await settle(gateway)
  await expectKept(ask, memory.stored)
  await expectPaid(gateway, [...memory.paid])
  await expectSettled(gateway)
  const gone = memory.stored.filter(({ state }) => state === 'gone').length
  return { kills, stored: memory.stored.length, gone, paid: memory.paid.size }
}

async function liveOnce(
  gateway: GatewayProcess,
  ask: SendRequest,
  memory: Acknowledged,
  draw: () => number,
): Promise<void> {
  const dying = new AbortController()
  const enough = { stored: memory.stored.length + minAcknowledged, paid: memory.paid.size + minAcknowledged }
  const living = Array.from({ length: clients }, () => runUntilKilled(ask, memory, draw, dying.signal))
  await Bun.sleep(60 + draw() * maxLife)
  const hasEnough = () => memory.stored.length >= enough.stored && memory.paid.size >= enough.paid
  await waitUntil(hasEnough, 'there is something to lose')
  await gateway.kill()
  dying.abort()
  await Promise.all(living)
}

function since(
  stored: readonly AcknowledgedObject[],
  first: number,
  draw: () => number,
): readonly AcknowledgedObject[] {
  const old = Array.from({ length: Math.min(oldOnes, first) }, () => stored[Math.floor(draw() * first)]!)
  return [...old, ...stored.slice(first)]
}

async function expectKept(ask: SendRequest, stored: readonly AcknowledgedObject[]): Promise<void> {
  for (const received of stored) await expectAsReceived(ask, received)
}

/** The object exists or was deleted, as acknowledged; a finished one is replayed with the same end. */
export async function expectAsReceived(
  ask: SendRequest,
  { path, state, object, unsure, api }: AcknowledgedObject,
): Promise<void> {
  const reply = await ask(path, 'GET')
  const found = (await reply.json()) as AcknowledgedObject['object']
  if (unsure && reply.status === 404) return
  expect([path, reply.status]).toEqual([path, state === 'kept' ? 200 : 404])
  if (state === 'gone') return
  if (api === 'chat') {
    if (!unsure && object.metadata) expect([path, found.metadata]).toEqual([path, object.metadata])
    return
  }
  if (isFinished(object)) expect([path, found]).toEqual([path, object])
  if (!isFinished(found)) return
  const { events, last } = await readEvents(await ask(`${path}?stream=true`, 'GET'))
  expect([path, last]).toEqual([path, found as NonNullable<typeof last>])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
}

/** A complete reply was billed at the cost in its header. */
export async function expectPaid(
  { books: billing }: Pick<GatewayProcess, 'books'>,
  paid: readonly (readonly [request: string, cost: string])[],
): Promise<void> {
  for (const [request, cost] of paid) {
    const row = await billing.usageOf(request)
    expect([request, row?.status]).toEqual([request, 200])
    if (cost !== '') expect([request, row?.cost]).toEqual([request, Number(parseUsd(cost))])
    const { charge = 0 } = await billing.entriesOf(request)
    expect([request, 1 - charge]).toEqual([request, 1 + (row?.cost ?? 0)])
  }
}

/** Waits until every run of an earlier process has finished. */
async function settle({ books: billing }: GatewayProcess): Promise<void> {
  const unfinished = () => billing.rows("SELECT id FROM responses WHERE status IN ('queued', 'in_progress')")
  await waitUntil(
    async () => (await unfinished()).length === 0 && (await billing.openReservations()) === 0,
    'the end of every run',
    60_000,
  )
}

/** Nothing is open, and every charge has its usage row. */
export async function expectSettled({ books: billing }: Pick<GatewayProcess, 'books'>): Promise<void> {
  await billing.expectConsistent()
  expect((await billing.account('acme'))[1]).toBe(0)
  expect(await billing.values('SELECT count(*) FROM response_log')).toEqual([[0]])
  const orphans =
    "SELECT count(*) FROM ledger WHERE kind <> 'credit' AND request_id NOT IN (SELECT id FROM usage)"
  expect(await billing.values(orphans)).toEqual([[0]])
  const twice =
    "SELECT count(*) FROM (SELECT 1 FROM ledger WHERE kind = 'charge' GROUP BY request_id HAVING count(*) > 1) repeated"
  expect(await billing.values(twice)).toEqual([[0]])
}

function asker({ url }: GatewayProcess, key: string): SendRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return (path, method, body) =>
    fetch(url() + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    })
}

function mostlyGood(draw: () => number): Script {
  const faulty = faultyProvider(draw)
  return {
    play(socket, closed) {
      const kind = draw()
      if (kind < 0.15) return faulty.play(socket, closed)
      return (kind < 0.6 ? jsonReply() : streamReply()).play(socket, closed)
    },
  }
}
