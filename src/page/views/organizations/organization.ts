import type { ApiClient } from '../../api/client.ts'
import { loadAll } from '../../api/load-all.ts'

/** An organization, as `GET /admin/organizations` returns it. */
export type Organization = {
  readonly id: string
  readonly name: string
  readonly billing: Billing
  readonly balance_usd: string
  readonly reserved_usd: string
  /** Null for the limit of the settings. */
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly concurrent_requests: number | null
  readonly created_at: string
}

export type Billing = 'unmetered' | 'prepaid' | 'none'

/** What each kind of billing means. */
export const billingOptions: readonly { readonly value: Billing; readonly label: string }[] = [
  { value: 'unmetered', label: 'Unmetered: costs are recorded only' },
  { value: 'prepaid', label: 'Prepaid: requests are paid from the balance' },
  { value: 'none', label: 'None: requests to models are rejected' },
]

/** The path of an organization in the admin API. */
export function organizationPath(name: string): string {
  return `/admin/organizations/${encodeURIComponent(name)}`
}

/** Loads all organizations. */
export function loadOrganizations(client: ApiClient, signal?: AbortSignal): Promise<readonly Organization[]> {
  return loadAll(client, '/admin/organizations', signal)
}

/** An exact amount with its sign and every decimal: `-$12.345678901`. */
export function exactUsd(usd: string): string {
  return usd.startsWith('-') ? `-$${usd.slice(1)}` : `$${usd}`
}
