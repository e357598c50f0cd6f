/** One call to a provider. */
export type Attempt = {
  readonly provider: string
  readonly model: string | null
  readonly outcome: string
  readonly ms: number | null
  readonly message?: string
  readonly provider_message?: string
}

/** A finished request, as the admin API returns it. */
export type FinishedRequest = {
  readonly id: string
  readonly created_at: string
  readonly status: number
  readonly error: string | null
  readonly message: string | null
  readonly provider_message: string | null
  readonly param: string | null
  readonly organization: string
  readonly organization_id: string
  readonly project: string | null
  readonly project_name: string | null
  readonly key: string
  readonly key_name: string | null
  readonly user: string | null
  readonly session: string | null
  readonly tags: readonly string[] | null
  readonly api: string
  readonly model: string | null
  readonly provider: string | null
  readonly upstream_model: string | null
  readonly stream: boolean
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly estimated: boolean
  readonly cost_usd: string | null
  readonly latency_ms: number | null
  readonly first_token_ms: number | null
  readonly attempts: readonly Attempt[]
  readonly warnings: readonly string[]
}

/** The filters by their name in the API and in the address, and for people. */
export const filterNames = {
  organization: 'Organization',
  project: 'Project',
  key: 'API key',
  model: 'Model',
  provider: 'Provider',
  status: 'Status',
  error: 'Error',
  user: 'User',
  session: 'Session',
} as const

export type FilterName = keyof typeof filterNames

/** Whether a request has failed, also in the middle of its stream. */
export function hasFailed({ status, error }: FinishedRequest): boolean {
  return error !== null || status < 200 || status > 299
}
