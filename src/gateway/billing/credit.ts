import type { Organization } from '../../domain/accounting/organization.ts'
import { type ApiError, billingNotConfigured, insufficientBalance } from '../../lib/errors/errors.ts'

/** An organization, and whether its balance was above zero at most a second ago. */
export type Payer = { readonly organization: Pick<Organization, 'billing'>; readonly hasCredit: boolean }

/** Throws the 402 of an organization that cannot pay for any request, whatever that costs. */
export function requireCredit({ organization: { billing }, hasCredit }: Payer): void {
  if (billing === 'none') throw noBilling()
  if (billing === 'prepaid' && !hasCredit)
    throw insufficientBalance('Insufficient balance: the balance is zero or less. Add credit first.')
}

/** 402: the organization has no billing. */
export function noBilling(): ApiError {
  return billingNotConfigured('Billing is not configured for the organization of this API key.')
}
