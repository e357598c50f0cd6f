/** The owner of keys, data, limits and a balance. */
export type Organization = {
  readonly id: string
  readonly name: string
  readonly billing: BillingMode
  /** Its own limits; null uses those in the settings. */
  readonly limits: OrganizationLimits
}

export type OrganizationLimits = {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
}

/** How an organization pays: `prepaid` from a balance, `unmetered` not at all; with `none` its requests are rejected. */
export const billingModes = ['unmetered', 'prepaid', 'none'] as const

export type BillingMode = (typeof billingModes)[number]
