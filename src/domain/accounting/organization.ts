import type { Allowance } from './allowance.ts'

/** The owner of keys, data, limits and a balance. */
export type Organization = {
  readonly id: string
  readonly name: string
  readonly billing: BillingMode
  readonly limits: Allowance
}

/** A person, a team or an application within an organization, which owns some of its keys. */
export type Project = {
  readonly id: string
  readonly name: string
  readonly limits: Allowance
}

/** What a key may do beside sending requests: manage its organization, or create keys out of its own budget. */
export const keyPermissions = ['admin', 'mint'] as const

export type KeyPermission = (typeof keyPermissions)[number]

/**
 * What an admin key may do: read everything but what clients have sent and received, change the gateway, and read that, too.
 * Every admin key has `read`.
 */
export const adminPermissions = ['read', 'write', 'content'] as const

export type AdminPermission = (typeof adminPermissions)[number]

/** Those of an admin key for which none are chosen. */
export const defaultAdminPermissions: readonly AdminPermission[] = ['read', 'write']

/** How an organization pays: `prepaid` from a balance, `unmetered` not at all; with `none` its requests are rejected. */
export const billingModes = ['unmetered', 'prepaid', 'none'] as const

export type BillingMode = (typeof billingModes)[number]
