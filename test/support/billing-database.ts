import type { Database as Sqlite } from 'bun:sqlite'
import { parseUsd } from '../../src/lib/usd.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { createKeys } from '../../src/storage/sqlite/keys/keys.ts'
import { createOrganizations } from '../../src/storage/sqlite/organizations/organizations.ts'
import type { BillingMode } from '../../src/domain/accounting/organization.ts'
import { createWriter } from '../../src/storage/sqlite/writer/writer.ts'
import { quietLog } from '../unit/storage/support/folder.ts'
import { expectConsistentLedger } from '../unit/storage/support/ledger-fixture.ts'

/** A row of the usage table, as it is stored. */
export type UsageRow = Readonly<Record<string, string | number | null>> & {
  readonly id: string
  readonly organization_id: string
  readonly status: number
  readonly cost: number | null
}

/** The usage and the ledger in the database of a gateway, on a separate connection. */
export type BillingDatabase = Disposable & {
  readonly sqlite: Sqlite
  /** Sets the billing of an organization and credits it in USD; creates it where it is missing. */
  fund(name: string, usd: string, billing?: BillingMode): Promise<void>
  /** Creates a key of the organization. */
  keyOf(name: string): Promise<string>
  /** The balance of the organization and its reserved part, in nano-dollars. */
  account(name?: string): readonly [balance: number, reserved: number]
  /** The usage rows, oldest first. */
  rows(): UsageRow[]
  row(id: string): UsageRow | null
  /** The ledger, oldest first: kind and amount. */
  entries(): unknown[]
  /** The ledger amounts of a request, by kind. */
  entriesOf(request: string): Readonly<Record<string, number>>
  openReservations(): number
  /** Resolves with the usage rows once there are this many and no call is open. */
  waitForUsage(rows: number): Promise<UsageRow[]>
  expectConsistent(): void
}

/** Opens the database of a gateway that may be running. */
export function openBillingDatabase(file: string): BillingDatabase {
  const database = openDatabase(file, quietLog)
  const { sqlite } = database
  const writer = createWriter(database)
  const organizations = createOrganizations(database, writer)
  const keys = createKeys(database, writer)
  const rows = () => sqlite.query<UsageRow, []>('SELECT * FROM usage ORDER BY id').all()
  const open = () => Number(sqlite.query('SELECT count(*) FROM reservations').values()[0]?.[0])
  return {
    sqlite,
    rows,
    openReservations: open,
    fund: (name, usd, billing = 'prepaid') => fund(organizations, name, usd, billing),
    async keyOf(name) {
      const { key } = await keys.create({ organization: name, name: `of ${name}`, expiresAt: null })
      return key.reveal()
    },
    account: (name = 'default') => accountOf(sqlite, name),
    row: (id) => sqlite.query<UsageRow, [string]>('SELECT * FROM usage WHERE id = ?').get(id),
    entries: () => sqlite.query('SELECT kind, amount FROM ledger ORDER BY id').values(),
    entriesOf: (request) =>
      Object.fromEntries(
        sqlite.query('SELECT kind, amount FROM ledger WHERE request_id = ?').values(request),
      ),
    async waitForUsage(count) {
      await waitUntil(() => rows().length >= count && open() === 0, `${count} rows and no open call`)
      return rows()
    },
    expectConsistent: () => expectConsistentLedger(sqlite),
    [Symbol.dispose]: () => database.close(),
  }
}

/** Resolves when the condition is true; throws after the timeout in milliseconds. */
export async function waitUntil(
  claim: () => boolean | Promise<boolean>,
  what: string,
  max = 5000,
): Promise<void> {
  const deadline = performance.now() + max
  while (!(await claim())) {
    if (performance.now() > deadline) throw new Error(`Not within ${max} ms: ${what}.`)
    await Bun.sleep(5)
  }
}

type Organizations = ReturnType<typeof createOrganizations>

async function fund(
  organizations: Organizations,
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

function accountOf(sqlite: Sqlite, name: string): [number, number] {
  const query = sqlite.query<{ balance: number; reserved: number }, [string]>(
    'SELECT balance, reserved FROM organizations WHERE name = ?',
  )
  const row = query.get(name)
  if (row === null) throw new Error(`There is no organization ${name}.`)
  return [row.balance, row.reserved]
}
