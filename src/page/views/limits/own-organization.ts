/** The organization of the key, as `GET /v1/organization` returns it. */
export type OwnOrganization = {
  readonly id: string
  readonly name: string
  readonly api_key_id: string
  readonly billing: 'unmetered' | 'prepaid' | 'none'
  readonly balance_usd: string
  readonly reserved_usd: string
  readonly available_usd: string
  readonly limits: {
    readonly requests_per_minute: number
    readonly tokens_per_minute: number
    readonly concurrent_requests: number
  }
  readonly remaining: { readonly requests: number; readonly tokens: number }
  readonly reset_ms: { readonly requests: number; readonly tokens: number }
}

/** What each kind of billing means. */
export const billingSentences: Readonly<Record<OwnOrganization['billing'], string>> = {
  unmetered: 'Requests are recorded with their cost, and nothing is charged to the balance.',
  prepaid: 'Requests are paid from the balance.',
  none: 'Requests to models are rejected.',
}
