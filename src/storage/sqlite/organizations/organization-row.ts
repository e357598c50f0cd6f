import { isNull } from 'drizzle-orm'
import { organizations } from '../../schema/organizations.ts'
import type { Organization, OrganizationLimits } from '../../../domain/accounting/organization.ts'

/** The condition that an organization is not deleted; a deletion that has begun counts. */
export const organizationExists = isNull(organizations.deletion)

/** The same condition as SQL text. */
export const organizationExistsSql = 'organizations.deletion IS NULL'

/** The columns that `toOrganization` reads. */
export const organizationColumns = {
  id: organizations.id,
  name: organizations.name,
  billing: organizations.billing,
  requestsPerMinute: organizations.requests_per_minute,
  tokensPerMinute: organizations.tokens_per_minute,
  concurrentRequests: organizations.concurrent_requests,
}

type OrganizationRow = Pick<Organization, 'id' | 'name' | 'billing'> & OrganizationLimits

/** Converts a row that was selected with `organizationColumns`. */
export function toOrganization(row: OrganizationRow): Organization {
  const { id, name, billing, ...limits } = row
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits
  return { id, name, billing, limits: { requestsPerMinute, tokensPerMinute, concurrentRequests } }
}
