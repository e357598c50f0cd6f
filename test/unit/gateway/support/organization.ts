import { type AllowanceChange, noLimits } from '../../../../src/domain/accounting/allowance.ts'
import type { Organization } from '../../../../src/domain/accounting/organization.ts'

/** An organization with these limits. */
export function organization(id = 'org_acme', own: AllowanceChange = {}): Organization {
  return { id, name: id, billing: 'unmetered', limits: { ...noLimits, ...own } }
}
