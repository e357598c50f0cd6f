import type { BillingMode, Organization } from '../../../domain/accounting/organization.ts'
import type { OrganizationAccount } from '../../ports/organizations.ts'

/** SQL for the columns that `toOrganization` reads, of a table named `o`. */
export const organizationColumns =
  'o.id, o.name, o.billing, o.requests_per_minute, o.tokens_per_minute, o.concurrent_requests'

/** SQL for the columns that `toAccount` reads, of a table named `o`. */
export const accountColumns = `${organizationColumns}, o.balance, o.reserved, o.created_at`

export type OrganizationRow = {
  readonly id: string
  readonly name: string
  readonly billing: BillingMode
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly concurrent_requests: number | null
}

export type AccountRow = OrganizationRow & {
  readonly balance: number
  readonly reserved: number
  readonly created_at: number
}

/** Converts a row that was selected with `organizationColumns`. */
export function toOrganization(row: OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    billing: row.billing,
    limits: {
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      concurrentRequests: row.concurrent_requests,
    },
  }
}

/** Converts a row that was selected with `accountColumns`. */
export function toAccount(row: AccountRow): OrganizationAccount {
  return {
    ...toOrganization(row),
    balance: BigInt(row.balance),
    reserved: BigInt(row.reserved),
    createdAt: row.created_at,
  }
}
