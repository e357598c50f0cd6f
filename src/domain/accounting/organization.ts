/** Who a key belongs to, as a request needs it. */
export type Organization = {
  readonly id: string
  readonly name: string
  readonly billing: BillingMode
  /** Its own limits; null where the settings decide. */
  readonly limits: OrganizationLimits
}

export type OrganizationLimits = {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
}

// Timestamps are milliseconds since 1970, amounts are nano-dollars. A balance stays within 2^53 - 1 of zero (9 million
// USD, held by a check), so both are exact as numbers; a sum over many rows must be read as a bigint.
//
// Each page that a request changes is written once more to the log. So `usage`, `ledger` and `reservations`, of which
// every paid request has rows, are `WITHOUT ROWID`, which the migrations say and Drizzle does not know: each is one tree,
// with its newest rows together at the end.

/** How an organization pays: with a balance, not at all, or not yet: its calls are refused. */
export const billingModes = ['unmetered', 'prepaid', 'none'] as const

export type BillingMode = (typeof billingModes)[number]
