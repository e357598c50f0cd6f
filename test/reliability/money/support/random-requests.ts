import { expect } from 'bun:test'
import { parseUsd } from '../../../../src/lib/usd.ts'
import { createUpstream } from '../../../support/upstream.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import { type BillingDatabase, waitUntil } from '../../../support/billing-database.ts'
import { faultyProvider } from './faulty-provider.ts'
import { createGatewayProcess, type GatewayProcess } from './gateway-process.ts'
import { pricing } from '../../../support/billing-scenario.ts'
import { sendRandomRequest, type SentRequest } from './random-client.ts'

const clients = 40

/** In USD for 3000 requests; null pays nothing. */
const organizations: Readonly<Record<string, string | null>> = {
  rich: '1000',
  modest: '5',
  tight: '0.2',
  tighter: '0.1',
  poor: '0.05',
  poorer: '0.02',
  broke: '0',
  free: null,
}

/**
 * Sends random requests until each life of the gateway has had so many, all but the last of which end with a kill, and
 * compares the ledger with what the clients received.
 */
export async function expectExactLedger(seed: string, lives: readonly number[]) {
  const random = randomFrom(seed)
  await using upstream = await createUpstream(faultyProvider(random))
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  const total = lives.reduce((sum, requests) => sum + requests)
  const keys = await fundAll(gateway.books, total / 3000)
  const received: SentRequest[] = []
  for (const [life, requests] of lives.entries()) {
    await gateway.start()
    await expectNothingOpen(gateway.books)
    const requesting = askMany(gateway.url(), keys, random)
    await requesting.after(requests)
    if (life < lives.length - 1) {
      await gateway.kill()
      await gateway.books.expectConsistent()
    }
    received.push(...(await requesting.end()))
  }
  await gateway.books.waitForUsage(0)
  await expectNothingOpen(gateway.books)
  await expectAllAgree(gateway.books, received)
  const counts = await tally(gateway, received)
  expect(counts.asked).toBeGreaterThanOrEqual(total)
  return counts
}

/** The fewer requests there are, the less is credited, so that the same of them run into debt. */
async function fundAll(billing: BillingDatabase, share: number): Promise<(readonly [string, string])[]> {
  const keys: (readonly [string, string])[] = []
  for (const [name, usd] of Object.entries(organizations)) {
    const credit = (Number(usd) * share).toFixed(9)
    await billing.fund(name, credit, usd === null ? 'unmetered' : 'prepaid')
    keys.push([name, await billing.keyOf(name)])
  }
  return keys
}

/** Clients that ask, each for a random organization, until they are told to end. */
function askMany(url: string, keys: readonly (readonly [string, string])[], random: () => number) {
  const received: SentRequest[] = []
  const ending = new AbortController()
  const askInTurn = async () => {
    while (!ending.signal.aborted)
      received.push(await sendRandomRequest(url, keys[Math.floor(random() * keys.length)]!, random))
  }
  const all = Promise.all(Array.from({ length: clients }, askInTurn))
  return {
    async end() {
      ending.abort()
      await all
      return received
    },
    after: (count: number) => waitUntil(() => received.length >= count, `${count} requests`),
  }
}

async function expectNothingOpen(billing: BillingDatabase): Promise<void> {
  await billing.expectConsistent()
  expect(await billing.openReservations()).toBe(0)
  for (const name of Object.keys(organizations))
    expect([name, (await billing.account(name))[1]]).toEqual([name, 0])
}

async function expectAllAgree(billing: BillingDatabase, received: readonly SentRequest[]): Promise<void> {
  let lost = 0
  for (const request of received) {
    if (request.whole) lost += Number(!(await isAsReceived(billing, request)))
    // Who pays has left a trace in every case; of a call that is free, a kill leaves none.
    else if (request.id !== undefined && request.organization !== 'free' && !mayBeLost(request))
      expect([request.id, (await billing.usageOf(request.id))?.id]).toEqual([request.id, request.id])
  }
  expect(lost).toBeLessThan(received.length / 20)
  for (const row of await billing.usage()) {
    const { charge = 0 } = await billing.entriesOf(row.id)
    // Added to something, so that there is no zero below zero.
    const cost = (await isPayer(billing, row)) ? (row.cost ?? 0) : 0
    expect([row.id, 1 - charge]).toEqual([row.id, 1 + cost])
  }
  const orphans = await billing.values(
    "SELECT count(*) FROM ledger WHERE kind <> 'credit' AND request_id NOT IN (SELECT id FROM usage)",
  )
  expect(orphans).toEqual([[0]])
}

/** Whether a kill may lose the usage row: those of requests that have reserved nothing are written a moment later. */
function mayBeLost({ organization, status = 0 }: SentRequest): boolean {
  return organization === 'free' || status === 400 || status === 404
}

/** What a client was told is what the row says, also where the gateway was killed right after; false if the kill lost it. */
async function isAsReceived(billing: BillingDatabase, request: SentRequest): Promise<boolean> {
  const { id = '', status = 0, cost, organization } = request
  const row = await billing.usageOf(id)
  if (row === undefined && mayBeLost(request)) return false
  expect([id, row?.status]).toEqual([id, status])
  expect(await nameOf(billing, row!)).toBe(organization)
  if (typeof cost === 'string') expect([id, row?.cost]).toEqual([id, Number(parseUsd(cost))])
  return true
}

async function nameOf(billing: BillingDatabase, row: { readonly organization_id: string }): Promise<unknown> {
  return (await billing.values('SELECT name FROM organizations WHERE id = ?', row.organization_id))[0]?.[0]
}

async function isPayer(
  billing: BillingDatabase,
  row: { readonly organization_id: string },
): Promise<boolean> {
  return (await nameOf(billing, row)) !== 'free'
}

/** What happened, so that a run in which little did is seen; each of these must have. */
async function tally({ books: billing }: GatewayProcess, received: readonly SentRequest[]) {
  const rows = await billing.usage()
  const having = (status: number) => rows.filter((row) => row.status === status).length
  const accounts = await Promise.all(Object.keys(organizations).map((name) => billing.account(name)))
  const inDebt = accounts.filter(([balance]) => balance < 0).length
  const counts = {
    asked: received.length,
    told: received.filter(({ whole: complete }) => complete).length,
    rows: rows.length,
    answered: having(200),
    refused: having(402),
    unknown: having(404),
    rejected: having(400),
    failed: having(502),
    left: having(499),
    interrupted: having(0),
    inDebt,
  }
  for (const [name, count] of Object.entries(counts)) expect([name, count > 0]).toEqual([name, true])
  return counts
}
