import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { fillUsage } from '../../support/usage-rows.ts'

export const adminKey = 'admin-secret-0123456789'

const day = 86_400_000

/** A gateway with so many requests in 30 days, or since a time; two of three are of the organization of the key. */
export async function startUsage(rows: number, from = Date.now() - 30 * day): Promise<BillingScenario> {
  const paid = await startBillingScenario(jsonReply(), { environment: { WEIR_ADMIN_KEY: adminKey } })
  await paid.billing.fund('globex', '1')
  const ids = await Promise.all(['default', 'globex', 'default'].map((name) => idOf(paid, name)))
  if (rows > 0) await fillUsage(paid.billing, { rows, from, to: Date.now(), organizations: ids })
  return paid
}

/** The ID of an organization. */
export async function idOf({ billing }: BillingScenario, name: string): Promise<string> {
  return String((await billing.values('SELECT id FROM organizations WHERE name = ?', name))[0]?.[0])
}
