import { parseUsd } from '../../src/lib/usd.ts'
import type { BillingMode } from '../../src/domain/accounting/organization.ts'
import type { DatabaseLocation } from '../../src/storage/database-location.ts'
import { expectConsistent } from '../unit/storage/support/ledger-fixture.ts'
import { connectDatabase, type DatabaseConnection, type Value } from './database-connection.ts'

/** A row of the usage table, as it is stored. */
export type UsageRow = Readonly<Record<string, string | number | null>> & {
  readonly id: string
  readonly organization_id: string
  readonly status: number
  readonly cost: number | null
}

/** The usage and the ledger in the database of a gateway, on separate connections. */
export type BillingDatabase = DatabaseConnection & {
  /** Sets the billing of an organization and credits it in USD; creates it where it is missing. */
  fund(name: string, usd: string, billing?: BillingMode): Promise<void>
  /** Creates a key of the organization. */
  keyOf(name: string): Promise<string>
  /** The balance of the organization and its reserved part, in nano-dollars. */
  account(name?: string): Promise<readonly [balance: number, reserved: number]>
  /** The usage rows, oldest first. */
  usage(): Promise<UsageRow[]>
  /** The usage row of a request, once it is written: the reply of a request that has reserved nothing does not wait for it. */
  usageOf(request: string): Promise<UsageRow | undefined>
  /** The ledger, oldest first: kind and amount. */
  entries(): Promise<Value[][]>
  /** The ledger amounts of a request, by kind. */
  entriesOf(request: string): Promise<Readonly<Record<string, number>>>
  openReservations(): Promise<number>
  /** How many rows a table has. */
  count(table: string): Promise<number>
  /** Resolves with the usage rows once there are this many and no call is open; throws after the timeout in milliseconds. */
  waitForUsage(rows: number, timeoutMs?: number): Promise<UsageRow[]>
  expectConsistent(): Promise<void>
}

/** Opens the database of a gateway that may be running. */
export async function openBillingDatabase(location: DatabaseLocation): Promise<BillingDatabase> {
  const connection = await connectDatabase(location)
  const { rows, values, keys } = connection
  const usage = () => rows<UsageRow>('SELECT * FROM usage ORDER BY id')
  const count = async (table: string) => Number((await values(`SELECT count(*) FROM ${table}`))[0]?.[0])
  const openReservations = () => count('reservations')
  return {
    ...connection,
    usage,
    openReservations,
    count,
    fund: (name, usd, billing = 'prepaid') => fund(connection, name, usd, billing),
    async keyOf(name) {
      const { key } = await keys.create({ organization: name, name: `of ${name}`, expiresAt: null })
      return key.reveal()
    },
    account: (name = 'default') => accountOf(connection, name),
    async usageOf(id) {
      for (const deadline = performance.now() + 60_000; ;) {
        const [row] = await rows<UsageRow>('SELECT * FROM usage WHERE id = ?', id)
        if (row !== undefined || performance.now() > deadline) return row
        await Bun.sleep(2)
      }
    },
    entries: () => values('SELECT kind, amount FROM ledger ORDER BY id'),
    entriesOf: async (request) =>
      Object.fromEntries(await values('SELECT kind, amount FROM ledger WHERE request_id = ?', request)),
    async waitForUsage(rows, timeoutMs) {
      const isComplete = async () => (await count('usage')) >= rows && (await openReservations()) === 0
      await waitUntil(isComplete, `${rows} rows and no open call`, timeoutMs)
      return await usage()
    },
    expectConsistent: () => expectConsistent(connection),
  }
}

/** Resolves when the condition is true; throws after the timeout in milliseconds. */
export async function waitUntil(
  claim: () => boolean | Promise<boolean>,
  what: string,
  max = 60_000,
): Promise<void> {
  const deadline = performance.now() + max
  while (!(await claim())) {
    if (performance.now() > deadline) throw new Error(`Not within ${max} ms: ${what}.`)
    await Bun.sleep(5)
  }
}

async function fund(
  { organizations }: DatabaseConnection,
  name: string,
  usd: string,
  billing: BillingMode,
): Promise<void> {
  const known = (await organizations.list()).some((account) => account.name === name)
  if (!known) await organizations.create(name)
  await organizations.change(name, { billing })
  const amount = parseUsd(usd) ?? 0n
  if (amount > 0n) await organizations.credit(name, amount)
}

async function accountOf({ rows }: DatabaseConnection, name: string): Promise<[number, number]> {
  const [row] = await rows<{ readonly balance: number; readonly reserved: number }>(
    'SELECT balance, reserved FROM organizations WHERE name = ?',
    name,
  )
  if (row === undefined) throw new Error(`There is no organization ${name}.`)
  return [row.balance, row.reserved]
}
