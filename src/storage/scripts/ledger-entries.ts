import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { startOfIds, timeOf } from '../../lib/id.ts'
import { nextTurn } from '../../lib/time.ts'
import type { Nanos } from '../../lib/usd.ts'
import { clampedTime } from '../common/store-limits.ts'
import type {
  EntryKind,
  LedgerEntries,
  LedgerEntry,
  LedgerPage,
  LedgerQuery,
  LedgerSum,
} from '../ports/ledger-entries.ts'
import { ledger, organizations } from '../schema/organizations.ts'
import { select } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'

/** Reads the ledgers of a database. `maxNewer`: of how many entries a page reads the amounts besides its own. */
export function createLedgerEntries({ read }: ScriptRunner, maxNewer = 10_000): LedgerEntries {
  return {
    page: (query) => read(() => readPage(query, maxNewer)),
    async *pieces(query) {
      let { after, limit } = query
      let balance: Nanos | null | undefined
      while (limit > 0) {
        const page = { ...query, after, limit: Math.min(limit, pieceEntries) }
        const { items, hasMore } = await read(() => readPage(page, maxNewer, balance))
        const last = items.at(-1)
        if (last === undefined) return
        yield items
        if (!hasMore) return
        after = last.id
        balance = last.balance === null ? null : last.balance - last.amount
        limit -= items.length
        await nextTurn()
      }
    },
    sum: (organization) => read(() => readSum(organization)),
  }
}

/** The entries that are read at once. */
const pieceEntries = 1000

/**
 * The balances are computed from the present one, back through the newer entries, unless the balance before the page is
 * known: null is one that is not to be had.
 */
function* readPage(query: LedgerQuery, maxNewer: number, known?: Nanos | null): Script<LedgerPage> {
  const start = query.kind === undefined ? known : null
  const rows = yield* execute(() => selectPage(query, start === undefined ? maxNewer + 1 : 0))
  const [first] = rows
  const present = BigInt(first?.present ?? 0)
  const balance = start === undefined ? balanceBefore(first, maxNewer) : start
  const items = withBalances(rows.slice(0, query.limit).flatMap(toEntry), balance)
  return { items, hasMore: rows.length > query.limit, balance: present }
}

/** The balance before the entries that are newer than the page. */
function balanceBefore(row: EntryRow | undefined, maxNewer: number): Nanos | null {
  if (row === undefined || Number(row.newer) > maxNewer) return null
  return BigInt(row.present) - BigInt(row.newerAmount)
}

type EntryRow = {
  /** These are null in the only row of an empty page. */
  readonly id: string | null
  readonly kind: EntryKind | null
  readonly amount: string | null
  readonly request: string | null
  readonly note: string | null
  /** The present balance. */
  readonly present: string
  /** How many entries are newer than the page, and their sum. */
  readonly newer: number
  readonly newerAmount: string
}

/** One statement, so that the entries and the balance are those of one moment. */
function selectPage(query: LedgerQuery, maxNewer: number): SQL<EntryRow> {
  const { organization, limit } = query
  // By pairs, because PostgreSQL would read the newer entries of all organizations by their ids.
  const key = sql`${ledger.organization_id}, ${ledger.id}`
  const newer = sql`select ${ledger.amount} as amount from ${ledger}
    where (${key}) > (${organization}, (select max(id) from page)) and (${key}) < (${organization}, ${afterAllIds})
    order by ${key} limit ${maxNewer}`
  return sql`with page as (
      select ${ledger.id} as id, ${ledger.kind} as kind, cast(${ledger.amount} as text) as amount,
        ${ledger.request_id} as request, ${ledger.note} as note
      from ${ledger} where ${eq(ledger.organization_id, organization)} and ${ledger.id} in (
        select ${ledger.id} from ${ledger} where ${conditionOf(query)} order by ${ledger.id} desc limit ${limit + 1})),
    newer as (select count(*) as entries, cast(coalesce(sum(amount), 0) as text) as amount from (${newer}) as entries)
    select page.id, page.kind, page.amount, page.request, page.note,
      cast(${organizations.balance} as text) as present, newer.entries as newer, newer.amount as "newerAmount"
    from ${organizations} cross join newer left join page on true
    where ${eq(organizations.id, organization)} order by page.id desc`
}

/** The time of an entry is that of its id. */
function conditionOf({ organization, kind, since, until, after }: LedgerQuery): SQL | undefined {
  return and(
    eq(ledger.organization_id, organization),
    after === undefined ? undefined : lt(ledger.id, after),
    since === undefined ? undefined : gte(ledger.id, startOfIds('led_', since)),
    until === undefined ? undefined : lt(ledger.id, startOfIds('led_', until)),
    // Written out, because the index of the credits serves no parameter. SQLite uses it only to find the ids.
    kind === undefined
      ? undefined
      : sql`${ledger.kind} = ${kind === 'credit' ? sql`'credit'` : sql`'charge'`}`,
  )
}

/** Sorts after the ids of all entries. */
const afterAllIds = 'lee'

function toEntry({ id, kind, amount, request, note }: EntryRow): readonly Omit<LedgerEntry, 'balance'>[] {
  if (id === null || kind === null || amount === null) return []
  return [{ id, createdAt: clampedTime(timeOf(id)), kind, amount: BigInt(amount), request, note }]
}

/** `balance` is the one after the first of the entries. */
function withBalances(
  entries: readonly Omit<LedgerEntry, 'balance'>[],
  balance: Nanos | null,
): readonly LedgerEntry[] {
  let after = balance
  return entries.map((entry) => {
    const withBalance = { ...entry, balance: after }
    if (after !== null) after -= entry.amount
    return withBalance
  })
}

function* readSum(organization: string): Script<LedgerSum> {
  const [row] = yield* selectSum({ organization })
  return {
    entries: Number(row?.entries ?? 0),
    sum: BigInt(row?.sum ?? 0),
    balance: BigInt(row?.balance ?? 0),
  }
}

const selectSum = statement((values: Parameters<{ organization: string }>) =>
  select(
    {
      balance: sql<string>`cast(${organizations.balance} as text)`,
      entries: sql<number>`count(${ledger.id})`,
      sum: sql<string>`cast(coalesce(sum(${ledger.amount}), 0) as text)`,
    },
    sql`from ${organizations} left join ${ledger} on ${ledger.organization_id} = ${organizations.id}
      where ${eq(organizations.id, values.organization)} group by ${organizations.id}`,
  ),
)
