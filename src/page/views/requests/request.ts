import type { FinishedRequest } from '../../api/objects.ts'

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

/** The cost of a request in USD: nothing without tokens, such as that of a rejected one; null if its model has no price. */
export function costOf({ cost_usd, input_tokens, output_tokens }: FinishedRequest): string | null {
  return cost_usd ?? (input_tokens + output_tokens === 0 ? '0.00' : null)
}

/** Whether a request has failed, also in the middle of its stream. */
export function hasFailed({ status, error }: FinishedRequest): boolean {
  return error !== null || status < 200 || status > 299
}
