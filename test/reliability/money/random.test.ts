import { expect, test } from 'bun:test'
import { parseUsd } from '../../../src/lib/usd.ts'
import { createUpstream } from '../../support/upstream.ts'
import { randomFrom } from '../../unit/protocols/support/random.ts'
import { type Books, until } from './support/books.ts'
import { faultyProvider } from './support/faulty-provider.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'
import { pricing } from './support/paid.ts'
import { askAtRandom, type Told } from './support/random-client.ts'

/** After so many requests each life of the gateway ends, all but the last one with a kill. */
const lives = [350, 700, 30, 800, 450, 800]
const clients = 40

/** In USD; null pays nothing. */
const organizations: Readonly<Record<string, string | null>> = {
  rich: '1000',
  modest: '5',
  poor: '0.05',
  poorer: '0.02',
  broke: '0',
  free: null,
}

test('after thousands of random requests, faults, disconnects and kills the ledger is consistent to the nano-dollar', async () => {
  // The seed repeats what is asked and answered; when each comes is up to the machine.
  const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())
  console.log(`WEIR_TEST_SEED=${seed}`)
  const random = randomFrom(seed)
  await using upstream = await createUpstream(faultyProvider(random))
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  const keys = await fundAll(gateway.books)
  const told: Told[] = []
  for (const [life, requests] of lives.entries()) {
    await gateway.start()
    expectNothingOpen(gateway.books)
    const asking = askMany(gateway.url(), keys, random)
    await asking.after(requests)
    if (life < lives.length - 1) {
      await gateway.kill()
      gateway.books.expectSound()
    }
    told.push(...(await asking.end()))
  }
  await gateway.books.settled(0)
  expectNothingOpen(gateway.books)
  expectAllAgree(gateway.books, told)
  console.log(JSON.stringify(tally(gateway, told)))
}, 60_000)

async function fundAll(books: Books): Promise<(readonly [string, string])[]> {
  const keys: (readonly [string, string])[] = []
  for (const [name, usd] of Object.entries(organizations)) {
    await books.fund(name, usd ?? '0', usd === null ? 'unmetered' : 'prepaid')
    keys.push([name, await books.keyOf(name)])
  }
  return keys
}

/** Clients that ask, each for a random organization, until they are told to end. */
function askMany(url: string, keys: readonly (readonly [string, string])[], random: () => number) {
  const told: Told[] = []
  const ending = new AbortController()
  const askInTurn = async () => {
    while (!ending.signal.aborted)
      told.push(await askAtRandom(url, keys[Math.floor(random() * keys.length)]!, random))
  }
  const all = Promise.all(Array.from({ length: clients }, askInTurn))
  return {
    async end() {
      ending.abort()
      await all
      return told
    },
    after: (count: number) => until(() => told.length >= count, `${count} requests`, 20_000),
  }
}

function expectNothingOpen(books: Books): void {
  books.expectSound()
  expect(books.open()).toBe(0)
  for (const name of Object.keys(organizations)) expect([name, books.account(name)[1]]).toEqual([name, 0])
}

function expectAllAgree(books: Books, told: readonly Told[]): void {
  for (const request of told) {
    if (request.whole) expectAsTold(books, request)
    // Who pays has left a trace in every case; of a call that is free, a kill leaves none.
    else if (request.id !== undefined && request.organization !== 'free')
      expect([request.id, books.row(request.id)?.id]).toEqual([request.id, request.id])
  }
  for (const row of books.rows()) {
    const { charge = 0 } = books.entriesOf(row.id)
    // Added to something, so that there is no zero below zero.
    expect([row.id, 1 - charge]).toEqual([row.id, 1 + (payer(books, row) ? (row.cost ?? 0) : 0)])
  }
  const orphans = books.sqlite.query(
    "SELECT count(*) FROM ledger WHERE kind <> 'credit' AND request_id NOT IN (SELECT id FROM usage)",
  )
  expect(orphans.values()).toEqual([[0]])
}

/** What a client was told is what the row says, also where the gateway was killed right after. */
function expectAsTold(books: Books, { id = '', status = 0, cost, organization }: Told): void {
  const row = books.row(id)
  expect([id, row?.status]).toEqual([id, status])
  expect(nameOf(books, row!)).toBe(organization)
  if (typeof cost === 'string') expect([id, row?.cost]).toEqual([id, Number(parseUsd(cost))])
}

function nameOf(books: Books, row: { readonly organization_id: string }): unknown {
  return books.sqlite.query('SELECT name FROM organizations WHERE id = ?').values(row.organization_id)[0]?.[0]
}

function payer(books: Books, row: { readonly organization_id: string }): boolean {
  return nameOf(books, row) !== 'free'
}

/** What happened, so that a run in which little did is seen; each of these must have. */
function tally({ books }: GatewayProcess, told: readonly Told[]) {
  const rows = books.rows()
  const having = (status: number) => rows.filter((row) => row.status === status).length
  const inDebt = Object.keys(organizations).filter((name) => books.account(name)[0] < 0).length
  const counts = {
    asked: told.length,
    told: told.filter(({ whole }) => whole).length,
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
  expect(counts.asked).toBeGreaterThanOrEqual(3000)
  return counts
}
