import type { Database as Sqlite } from 'bun:sqlite'
import { expect } from 'bun:test'
import type { RequestMetadata } from '../../../../src/domain/accounting/request-metadata.ts'
import { timeOf, timeSortedId } from '../../../../src/lib/id.ts'
import { createLedger } from '../../../../src/storage/sqlite/ledger.ts'
import { createOrganizations } from '../../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import { testStorage } from './folder.ts'
import { type OpenStore, type TestStore, valuesOf } from './stores.ts'
import { testChange } from '../../../support/actor.ts'

/** An organization with that balance, and what moves it. */
export async function fundedStorage(balance: bigint) {
  const { database, writer } = testStorage()
  const ledger = createLedger(database, writer)
  const organizations = createOrganizations(createScriptRunner(database, writer), testChange)
  return { database, writer, ...(await fund({ ledger, organizations }, balance)), ledger }
}

/** The same in any store. */
export async function fundedStore(open: OpenStore, balance: bigint) {
  const store = await open()
  return { store, ...(await fund(store, balance)) }
}

async function fund({ ledger, organizations }: Pick<TestStore, 'ledger' | 'organizations'>, balance: bigint) {
  const acme = await organizations.create('acme')
  if (balance > 0n) await organizations.credit('acme', balance)
  const account = async () => {
    const found = (await organizations.list()).find(({ name }) => name === 'acme')
    return found && [found.balance, found.reserved]
  }
  const request = (): RequestMetadata => requestOf(acme.id)
  /** A reservation of that much, whose prompt costs a tenth of it. */
  const reservation = (amount: bigint, of = request()) => ({
    request: of,
    amount,
    promptCost: amount / 10n,
    promptTokens: 7,
  })
  return { organizations, ledger, acme, account, request, reservation }
}

/** The metadata of a chat request of the organization before its response; it was created at the time of its id, if that has one. */
export function requestOf(organization: string, id = timeSortedId('req_')): RequestMetadata {
  const createdAt = timeOf(id) || Date.now()
  return { id, organization, key: 'abcdefghijkl', createdAt, api: 'chat', stream: false }
}

/** The ledger, oldest first: kind and amount. */
export function entriesOf(store: TestStore): Promise<unknown[][]> {
  return valuesOf(store, 'SELECT kind, amount FROM ledger ORDER BY id')
}

/** How many rows a table has. */
export async function countOf(store: TestStore, table: string): Promise<unknown> {
  return (await valuesOf(store, `SELECT count(*) FROM ${table}`))[0]?.[0]
}

/** Invariants of every organization: each sum equals the sum of its parts, and no reservation is below zero. */
export function expectConsistentLedger(sqlite: Sqlite): void {
  expectSums(sqlite.prepare<Sums, []>(selectSums).all())
  expect(sqlite.prepare(selectUnfinished).all()).toEqual([])
  expectBudgets(sqlite.prepare<CountedRow, []>(selectCounted).all())
}

/** The same in any store. */
export async function expectConsistent(store: Pick<TestStore, 'rows'>): Promise<void> {
  expectSums((await store.rows(selectSums)) as readonly Sums[])
  expect(await store.rows(selectUnfinished)).toEqual([])
  expectBudgets((await store.rows(selectCounted)) as readonly CountedRow[])
}

type Sums = { readonly name: string } & Record<'balance' | 'reserved' | 'entries' | 'open', string>

const selectSums = `SELECT name, cast(balance as text) balance, cast(reserved as text) reserved,
      (SELECT cast(coalesce(sum(amount), 0) as text) FROM ledger WHERE organization_id = o.id) entries,
      (SELECT cast(coalesce(sum(amount), 0) as text) FROM reservations
        WHERE organization_id = o.id AND prepaid) open
    FROM organizations o`

const selectUnfinished = 'SELECT request_id FROM reservations WHERE request_id IN (SELECT id FROM usage)'

function expectSums(sums: readonly Sums[]): void {
  for (const { name, balance, reserved, entries, open } of sums) {
    expect([name, entries, open]).toEqual([name, balance, reserved])
    expect(BigInt(reserved)).toBeGreaterThanOrEqual(0n)
  }
}

/** A budget, or an open reservation that counts against some, in which case `budgets` is not null. */
type CountedRow = Readonly<
  Record<'organization' | 'owner' | 'start' | 'spent' | 'reserved' | 'held' | 'allocated', string>
> & { readonly budgets: string | null }

/** One statement, which sees both as they are at one moment. */
const selectCounted = `SELECT organization_id organization, owner_id owner, cast(start as text) start,
    cast(spent as text) spent, cast(reserved as text) reserved, cast(held as text) held,
    cast(allocated as text) allocated, NULL budgets FROM budgets
  UNION ALL
  SELECT organization_id, '', '0', '0', cast(amount as text), '0', '0', budgets FROM reservations
    WHERE budgets IS NOT NULL`

/** What is reserved of each budget is the sum of the open reservations that count against it. */
function expectBudgets(rows: readonly CountedRow[]): void {
  const open = new Map<string, bigint>()
  for (const { organization, reserved, budgets } of rows)
    for (const [owner, start] of JSON.parse(budgets ?? '[]') as readonly [string, number][]) {
      const budget = `${organization} ${owner} ${start}`
      open.set(budget, (open.get(budget) ?? 0n) + BigInt(reserved))
    }
  for (const { organization, owner, start, spent, reserved, held, allocated, budgets } of rows) {
    if (budgets !== null) continue
    const budget = `${organization} ${owner} ${start}`
    expect([budget, BigInt(reserved)]).toEqual([budget, open.get(budget) ?? 0n])
    open.delete(budget)
    const counts = [spent, held, allocated].map(BigInt)
    expect([budget, counts.every((count) => count >= 0n)]).toEqual([budget, true])
  }
  expect([...open]).toEqual([])
}
