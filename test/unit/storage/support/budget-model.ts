import type { BudgetUse } from '../../../../src/storage/ports/budgets.ts'
import type { BudgetLimit, ReservationRejection } from '../../../../src/storage/ports/ledger.ts'

/** A request in the model. */
export type CountedRequest = {
  readonly organization: string
  readonly amount: bigint
  readonly prepaid: boolean
  readonly budgets: readonly BudgetLimit[]
}

type Counts = { -readonly [Name in keyof BudgetUse]: BudgetUse[Name] } & {
  /** The highest limit that a reservation was made with, and by how much costs have exceeded their reservations. */
  highest: bigint
  exceeded: bigint
}

/** What balances and budgets should be, worked out without a database. */
export class BudgetModel {
  readonly #balances = new Map<string, { balance: bigint; reserved: bigint }>()
  readonly #budgets = new Map<string, Counts>()

  balanceOf(organization: string): { balance: bigint; reserved: bigint } {
    const known = this.#balances.get(organization) ?? { balance: 0n, reserved: 0n }
    this.#balances.set(organization, known)
    return known
  }

  /** What is spent of a budget, and what may be at most. */
  countsOf({ owner, start }: Pick<BudgetLimit, 'owner' | 'start'>): Counts {
    const unused = { spent: 0n, reserved: 0n, held: 0n, allocated: 0n, highest: 0n, exceeded: 0n }
    const counts = this.#budgets.get(`${owner} ${start}`) ?? unused
    this.#budgets.set(`${owner} ${start}`, counts)
    return counts
  }

  reserve(request: CountedRequest): ReservationRejection | undefined {
    const { organization, amount, prepaid, budgets } = request
    const account = this.balanceOf(organization)
    const available = account.balance - account.reserved
    if (prepaid && available < amount) return { budget: null, available }
    for (const budget of budgets) {
      const left = budget.limit - usedOf(this.countsOf(budget))
      if (left < amount) return { budget, available: left }
    }
    if (prepaid) account.reserved += amount
    for (const budget of budgets) {
      const counts = this.countsOf(budget)
      counts.reserved += amount
      if (budget.limit > counts.highest) counts.highest = budget.limit
    }
    return undefined
  }

  settle({ organization, amount, prepaid, budgets }: CountedRequest, cost: bigint, unknown: boolean): void {
    const account = this.balanceOf(organization)
    if (prepaid) {
      account.reserved -= amount
      account.balance -= cost
    }
    for (const budget of budgets) {
      const counts = this.countsOf(budget)
      counts.reserved -= amount
      counts.spent += cost
      if (unknown && amount > cost) counts.held += amount - cost
      if (cost > amount) counts.exceeded += cost - amount
    }
  }

  /** The budgets of which more is used than was allowed, although no cost explains it: there must be none. */
  overspent(): readonly string[] {
    return [...this.#budgets]
      .filter(([, counts]) => usedOf(counts) > counts.highest + counts.exceeded)
      .map(([name]) => name)
  }
}

function usedOf({ spent, reserved, held, allocated }: BudgetUse): bigint {
  return spent + reserved + held + allocated
}
