import type { Database as Sqlite } from 'bun:sqlite'
import { isNull, sql } from 'drizzle-orm'
import type { Nanos } from '../../lib/usd.ts'
import type { BudgetKey, BudgetUse } from '../ports/budgets.ts'
import { budgets, organizations } from '../schema/organizations.ts'
import { bare, select } from '../sql.ts'
import { textOf } from './run-script.ts'

/** The balance of an organization, and the sum of the open reservations that it pays. */
export type Balance = { readonly balance: Nanos; readonly reserved: Nanos }

/** What is spent of a budget, and the highest share of it, in percent, for which there is an event. */
export type NotedUse = BudgetUse & { readonly notified: number }

/** The most balances, and the most budgets, that stay in memory; a few hundred bytes each. */
const maxKept = 20_000

/**
 * The balances and budgets that requests reserve from and are charged to. They stay in memory for as long as nothing else
 * writes to the database, and are written once a transaction, however many requests share it. A job changes them last, when
 * none of its statements can fail any more.
 */
export class Amounts {
  readonly #sqlite: Sqlite
  #prepared: ReturnType<typeof prepareStatements> | undefined
  readonly #balances = new Map<string, Kept<Balance>>()
  readonly #budgets = new Map<string, Kept<NotedUse>>()
  #changed: { flush(): void }[] = []
  /** Whether this transaction has made sure that no other connection has written since the last one. */
  #isCurrent = false
  #version = 0

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite
  }

  /** Call it when a transaction has begun: no other connection can write until it ends. */
  begin(): void {
    this.#isCurrent = false
  }

  /** Returns undefined for an organization that does not exist. */
  balance(organization: string): Balance | undefined {
    return this.#keptBalance(organization)?.value
  }

  /** Changes the balance of an organization that exists. */
  setBalance(organization: string, value: Balance): void {
    const kept = this.#keptBalance(organization)
    if (kept === undefined) throw new Error(`There is no organization ${organization}.`)
    this.#set(kept, value)
  }

  /** Throws if the budget is that of another organization. */
  budget(organization: string, key: BudgetKey): NotedUse {
    return this.#keptBudget(organization, key).value
  }

  /** Changes a budget; what other keys have taken from it, and `notified`, are written elsewhere. */
  setBudget(organization: string, key: BudgetKey, value: NotedUse): void {
    this.#set(this.#keptBudget(organization, key), value)
  }

  /** Writes what was changed. Call it before the commit, and before work that does not use these amounts. */
  flush(): void {
    if (this.#changed.length === 0) return
    for (const kept of this.#changed) kept.flush()
    this.#changed = []
    if (this.#balances.size > maxKept || this.#budgets.size > maxKept) this.discard()
  }

  /** Forgets what was read and changed. Call it when the transaction is rolled back, and after work that may have changed it. */
  discard(): void {
    this.#balances.clear()
    this.#budgets.clear()
    this.#changed = []
  }

  #set<T>(kept: Kept<T>, value: T): void {
    if (kept.set(value)) this.#changed.push(kept)
  }

  #keptBalance(organization: string): Kept<Balance> | undefined {
    const { readBalance, writeBalance } = this.#current()
    const known = this.#balances.get(organization)
    if (known !== undefined) return known
    const row = readBalance.get(organization)
    if (row === null) return undefined
    const value = { balance: BigInt(row.balance), reserved: BigInt(row.reserved) }
    const kept = new Kept<Balance>(value, ({ balance, reserved }) =>
      writeBalance.run(balance, reserved, organization),
    )
    this.#balances.set(organization, kept)
    return kept
  }

  #keptBudget(organization: string, { owner, start }: BudgetKey): Kept<NotedUse> {
    const { readBudget, writeBudget } = this.#current()
    const id = `${organization} ${start} ${owner}`
    const known = this.#budgets.get(id)
    if (known !== undefined) return known
    const row = readBudget.get(owner, start)
    if (row !== null && row.organization !== organization)
      throw new Error(`The budget of ${owner} is not one of the organization ${organization}.`)
    const kept = new Kept<NotedUse>(row === null ? unused : toUse(row), ({ spent, reserved, held }) =>
      writeBudget.run(owner, start, organization, spent, reserved, held),
    )
    this.#budgets.set(id, kept)
    return kept
  }

  /** Returns the statements, and forgets what another connection may have changed. */
  #current() {
    // Prepared when they are needed first: most commands of the command line need none.
    const statements = (this.#prepared ??= prepareStatements(this.#sqlite))
    if (!this.#isCurrent) {
      const version = statements.version.get()?.data_version ?? 0
      if (version !== this.#version) this.discard()
      this.#version = version
      this.#isCurrent = true
    }
    return statements
  }
}

/** What is in a row, and whether it differs from that. */
class Kept<T> {
  value: T
  #isChanged = false
  readonly #write: (value: T) => void

  constructor(value: T, write: (value: T) => void) {
    this.value = value
    this.#write = write
  }

  /** Returns whether it is the first change since the last `flush`. */
  set(value: T): boolean {
    const isFirst = !this.#isChanged
    this.value = value
    this.#isChanged = true
    return isFirst
  }

  flush(): void {
    this.#isChanged = false
    this.#write(this.value)
  }
}

const unused: NotedUse = { spent: 0n, reserved: 0n, held: 0n, allocated: 0n, notified: 0 }

type UseRow = Readonly<Record<keyof NotedUse, number>> & { readonly organization: string }

function toUse({ spent, reserved, held, allocated, notified }: UseRow): NotedUse {
  return {
    spent: BigInt(spent),
    reserved: BigInt(reserved),
    held: BigInt(held),
    allocated: BigInt(allocated),
    notified,
  }
}

const useFields = {
  organization: budgets.organization_id,
  spent: budgets.spent,
  reserved: budgets.reserved,
  held: budgets.held,
  allocated: budgets.allocated,
  notified: budgets.notified,
}

function prepareStatements(sqlite: Sqlite) {
  const { balance, deletion, id } = organizations
  const { owner_id, start, spent, reserved, held } = budgets
  return {
    /** Changes with each commit of another connection. */
    version: sqlite.prepare<{ readonly data_version: number }, []>('PRAGMA data_version'),
    readBalance: sqlite.prepare<{ readonly balance: number; readonly reserved: number }, [string]>(
      textOf(
        select(
          { balance, reserved: organizations.reserved },
          sql`from ${organizations} where ${id} = ? and ${isNull(deletion)}`,
        ),
      ),
    ),
    writeBalance: sqlite.prepare<unknown, [Nanos, Nanos, string]>(
      textOf(
        sql`update ${organizations} set ${bare(balance)} = ?, ${bare(organizations.reserved)} = ? where ${id} = ?`,
      ),
    ),
    readBudget: sqlite.prepare<UseRow, [string, number]>(
      textOf(select(useFields, sql`from ${budgets} where ${owner_id} = ? and ${start} = ?`)),
    ),
    writeBudget: sqlite.prepare<unknown, [string, number, string, Nanos, Nanos, Nanos]>(
      textOf(sql`insert into ${budgets} (${bare(owner_id)}, ${bare(start)}, ${bare(budgets.organization_id)},
          ${bare(spent)}, ${bare(reserved)}, ${bare(held)}) values (?, ?, ?, ?, ?, ?)
        on conflict (${bare(owner_id)}, ${bare(start)}) do update set ${bare(spent)} = excluded.${bare(spent)},
          ${bare(reserved)} = excluded.${bare(reserved)}, ${bare(held)} = excluded.${bare(held)}`),
    ),
  }
}
