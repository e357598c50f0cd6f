import { formatUsd } from '../lib/usd.ts'
import type { OrganizationAccount } from '../storage/ports/organizations.ts'
import { table } from './output.ts'

/** Formats organizations as a table for the terminal. */
export function organizationTable(accounts: readonly OrganizationAccount[]): string {
  return table(accounts, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ID', value: ({ id }) => id },
    { title: 'BILLING', value: ({ billing }) => billing },
    { title: 'BALANCE USD', value: ({ balance }) => formatUsd(balance), align: 'right' },
    { title: 'REQUESTS/MIN', value: ({ limits }) => limitText(limits.requestsPerMinute), align: 'right' },
    { title: 'TOKENS/MIN', value: ({ limits }) => limitText(limits.tokensPerMinute), align: 'right' },
    { title: 'CONCURRENT', value: ({ limits }) => limitText(limits.concurrentRequests), align: 'right' },
    { title: 'CREATED', value: ({ createdAt }) => new Date(createdAt).toISOString().slice(0, 10) },
  ])
}

function limitText(limit: number | null): string {
  return limit?.toLocaleString('en-US') ?? 'default'
}
