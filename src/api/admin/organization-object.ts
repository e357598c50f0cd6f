import { formatUsd } from '../../lib/usd.ts'
import type { OrganizationAccount } from '../../storage/ports/accounts.ts'

/** Returns an organization as the admin API returns it, and the command line prints it with `--json`. */
export function organizationJson(account: OrganizationAccount) {
  const { id, name, billing, balance, reserved, limits, createdAt } = account
  return {
    id,
    name,
    billing,
    balance_usd: formatUsd(balance),
    reserved_usd: formatUsd(reserved),
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent_requests: limits.concurrentRequests,
    created_at: new Date(createdAt).toISOString(),
  }
}
