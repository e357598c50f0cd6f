import { sql } from 'drizzle-orm'
import type { WebhookEventType } from '../../domain/accounting/webhook-event.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { ReservedBudget } from '../common/reserved-budgets.ts'
import type { CurrentAlerts } from '../ports/webhooks.ts'
import { budgets } from '../schema/organizations.ts'
import { type BudgetCrossing, type LowBalance, writeEvent } from '../scripts/webhook-events.ts'
import { bare, insertion } from '../sql.ts'
import type { NotedUse } from './amounts.ts'
import type { Database } from './connection/database.ts'

export type WriteAlerts = ReturnType<typeof prepareAlerts>

/** Parts of a transaction that write the events of payments for webhooks. Without endpoints, they compare nothing. */
export function prepareAlerts({ run }: Database, current: CurrentAlerts, now: () => number) {
  const write = (organization: string, type: WebhookEventType, data: BudgetCrossing | LowBalance) =>
    run(writeEvent({ organization, type, createdAt: now(), data: JSON.stringify(data) }))

  return {
    /** That much is spent of a budget now: returns the highest share, in percent, of which there is an event. */
    spent(organization: string, { owner, start, limit }: ReservedBudget, before: NotedUse, spent: Nanos) {
      const { notified } = before
      const { budgetThresholds } = current()
      if (budgetThresholds.length === 0 || limit === undefined || limit <= 0n) return notified
      const crossed = budgetThresholds.filter((threshold) => {
        const share = limit * BigInt(threshold)
        // A share of which there is an event is crossed once more where the budget was raised.
        return spent * 100n >= share && (threshold > notified || before.spent * 100n < share)
      })
      if (crossed.length === 0) return notified
      for (const threshold of crossed) {
        const data: BudgetCrossing = { owner, start, threshold, limit: String(limit), spent: String(spent) }
        write(organization, 'budget.threshold', data)
      }
      const highest = Math.max(notified, ...crossed)
      run(noteThreshold({ owner_id: owner, start, organization_id: organization, notified: highest }))
      return highest
    },
    /** A balance is charged. */
    charged(organization: string, before: Nanos, amount: Nanos): void {
      const { lowBalance } = current()
      if (lowBalance === undefined || before <= lowBalance || before - amount > lowBalance) return
      const data: LowBalance = { balance: String(before - amount), threshold: String(lowBalance) }
      write(organization, 'balance.low', data)
    },
  }
}

/** The row may not be written yet. */
const noteThreshold = insertion(
  budgets,
  ['owner_id', 'start', 'organization_id', 'notified'],
  sql<never>`on conflict (${bare(budgets.owner_id)}, ${bare(budgets.start)})
    do update set ${bare(budgets.notified)} = excluded.${bare(budgets.notified)}`,
)
