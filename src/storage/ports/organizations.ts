import type { BillingMode, Organization, OrganizationLimits } from '../../domain/accounting/organization.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { ListedPage, PageQuery } from './listed-page.ts'

/** An organization with its balance. */
export type OrganizationAccount = Organization & {
  /** Negative if requests cost more than was reserved for them. */
  readonly balance: Nanos
  /** The sum of the open reservations. */
  readonly reserved: Nanos
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The fields to change; absent fields stay. A limit of null uses the one in the settings. */
export type OrganizationChange = Partial<OrganizationLimits> & { readonly billing?: BillingMode }

/** The organizations of a gateway. Each function rejects with a message for the operator. */
export type Organizations = {
  create(name: string): Promise<OrganizationAccount>
  list(): Promise<readonly OrganizationAccount[]>
  /** Whether there is more than one. */
  areSeveral(): Promise<boolean>
  /** One page by the time of creation; undefined if there is no item with the id `after`. */
  page(query: PageQuery): Promise<ListedPage<OrganizationAccount> | undefined>
  /** Finds an organization by its id or by its name; resolves with undefined if there is none. */
  find(reference: string): Promise<OrganizationAccount | undefined>
  change(name: string, change: OrganizationChange): Promise<OrganizationAccount>
  /** Adds to the balance; a negative amount is a correction, and cannot take reserved money. */
  credit(name: string, amount: Nanos, note?: string): Promise<OrganizationAccount>
  /** Hides the organization; the rest of the deletion is left to `PendingDeletions`. */
  beginDeletion(name: string): Promise<OrganizationAccount>
  /**
   * Deletes the organization and its data in steps, and calls `onDeleted` with the number of rows of each step. Its keys
   * stay, without an organization, from the first step on. A later call continues a deletion that was interrupted.
   */
  delete(name: string, onDeleted?: (rows: number) => void): Promise<OrganizationAccount>
}
