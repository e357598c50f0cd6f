import type { Organization, OrganizationLimits } from '../../../../src/domain/accounting/organization.ts'

/** An organization with these limits. */
export function organization(id = 'org_acme', own: Partial<OrganizationLimits> = {}): Organization {
  const none = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
  return { id, name: id, billing: 'unmetered', limits: { ...none, ...own } }
}
