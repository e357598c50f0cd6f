import { expect } from 'bun:test'
import { parseUsd } from '../../../../src/lib/usd.ts'
import { createUpstream } from '../../../support/upstream.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import { type BillingDatabase, type UsageRow, waitUntil } from '../../../support/billing-database.ts'
import { testsUsePostgres } from '../../../support/postgres/server.ts'
import { faultyProvider } from './faulty-provider.ts'
import { createGatewayProcess, type GatewayProcess } from './gateway-process.ts'
import { pricing } from '../../../support/billing-scenario.ts'
import { sendRandomRequest, type SentRequest } from './random-client.ts'

const clients = 40
/** A client disconnects when so many others have ended since it has sent its request: some providers never respond. */
const patience = 100

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
  const received: SentRequest[][][] = []
  for (const [life, requests] of lives.entries()) {
    await gateway.start()
    await expectNothingOpen(gateway.books)
    const requesting = askMany(gateway.url(), keys, random)
    await requesting.after(requests)
    if (life < lives.length - 1) {
      await gateway.kill()
      await gateway.books.expectConsistent()
    } else await driveIntoDebt(gateway.books)
    received.push(await requesting.end())
  }
  await gateway.books.waitForUsage(0)
  // By its end, it has written everything.
  await gateway.stop()
  await expectNothingOpen(gateway.books)
  for (const [life, sequences] of received.entries())
    for (const sequence of sequences) await expectAsReceived(gateway.books, sequence, life < lives.length - 1)
  await expectChargesAgree(gateway.books)
  const counts = await tally(gateway, received.flat(2))
  expect(counts.asked).toBeGreaterThanOrEqual(total)
  return counts
}

/** The fewer requests there are, the less is credited, so that the same of them run out of money. */
async function fundAll(billing: BillingDatabase, share: number): Promise<(readonly [string, string])[]> {
  const keys: (readonly [string, string])[] = []
  for (const [name, usd] of Object.entries(organizations)) {
    const credit = (Number(usd) * share).toFixed(9)
    await billing.fund(name, credit, usd === null ? 'unmetered' : 'prepaid')
    keys.push([name, await billing.keyOf(name)])
  }
  return keys
}

/** In nano-dollars: a request reserves less, and the provider counts more for some. */
const smallCredit = 1_500_000

/** Credits an organization for its next requests until one of them has cost more than its balance. */
async function driveIntoDebt({ account, organizations }: BillingDatabase): Promise<void> {
  const isInDebt = async () => {
    const [balance] = await account('broke')
    if (balance >= 0 && balance < smallCredit) await organizations.credit('broke', BigInt(smallCredit))
    return balance < 0
  }
  await waitUntil(isInDebt, 'an organization in debt')
}

/** Clients that send requests, each for a random organization, until they are to end. */
function askMany(url: string, keys: readonly (readonly [string, string])[], random: () => number) {
  const sequences = Array.from({ length: clients }, (): SentRequest[] => [])
  const waiting = new Map<AbortController, number>()
  const ending = new AbortController()
  let ended = 0
  const askOnce = async () => {
    const leaving = new AbortController()
    waiting.set(leaving, ended + patience)
    const key = keys[Math.floor(random() * keys.length)]!
    const request = await sendRandomRequest(url, key, random, leaving.signal)
    waiting.delete(leaving)
    ended++
    for (const [other, latest] of waiting) if (latest <= ended) other.abort()
    return request
  }
  const all = Promise.all(
    sequences.map(async (sequence) => {
      while (!ending.signal.aborted) sequence.push(await askOnce())
    }),
  )
  return {
    /** Resolves with the requests of each client, in order. */
    async end() {
      ending.abort()
      for (const leaving of waiting.keys()) leaving.abort()
      await all
      return sequences
    },
    after: (count: number) => waitUntil(() => ended >= count, `${count} requests`),
  }
}

async function expectNothingOpen(billing: BillingDatabase): Promise<void> {
  await billing.expectConsistent()
  expect(await billing.openReservations()).toBe(0)
  for (const name of Object.keys(organizations))
    expect([name, (await billing.account(name))[1]]).toEqual([name, 0])
}

/** Compares what a client received with the usage. A kill may lose rows that are written a moment later: the last ones. */
async function expectAsReceived(
  billing: BillingDatabase,
  sequence: readonly SentRequest[],
  killed: boolean,
): Promise<void> {
  const lost: SentRequest[] = []
  for (const request of sequence) {
    if (request.whole) {
      const isKept = await isAsReceived(billing, request)
      if (!isKept) lost.push(request)
      // In PostgreSQL, transactions of one moment may be committed in any order.
      else if (!testsUsePostgres && isFree(request)) expect(lost).toEqual([])
    }
    // Who pays has left a trace in every case; of a call that is free, a kill leaves none.
    else if (request.id !== undefined && request.organization !== 'free' && !mayBeLost(request))
      expect([request.id, (await rowOf(billing, request.id))?.id]).toEqual([request.id, request.id])
  }
  if (!killed) expect(lost).toEqual([])
}

async function rowOf({ rows }: BillingDatabase, id: string): Promise<UsageRow | undefined> {
  return (await rows<UsageRow>('SELECT * FROM usage WHERE id = ?', id))[0]
}

/** What was charged for each request is its cost, and nothing else was charged. */
async function expectChargesAgree(billing: BillingDatabase): Promise<void> {
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
function mayBeLost(request: SentRequest): boolean {
  return isFree(request) || request.status === 400
}

/** Whether it has certainly reserved nothing; one that was rejected by its provider had. */
function isFree({ organization, status }: SentRequest): boolean {
  return organization === 'free' || status === 404
}

/** What a client was told is what the row says, also where the gateway was killed right after; false if the kill lost it. */
async function isAsReceived(billing: BillingDatabase, request: SentRequest): Promise<boolean> {
  const { id = '', status = 0, cost, organization } = request
  const row = await rowOf(billing, id)
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
