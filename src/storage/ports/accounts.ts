import type { Allowance, AllowanceChange } from '../../domain/accounting/allowance.ts'
import type { KeyPermission, Organization, Project } from '../../domain/accounting/organization.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { ListedPage, NearEndQuery, SearchQuery } from './listed-pages.ts'

/** An organization with its balance. */
export type OrganizationAccount = Organization & {
  /** Negative if requests cost more than was reserved for them. */
  readonly balance: Nanos
  /** The sum of the open reservations. */
  readonly reserved: Nanos
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The fields to change; absent fields stay. */
export type OrganizationChange = AllowanceChange & Partial<Pick<Organization, 'name' | 'billing'>>

/** The organizations of a page: all of them, or those that match each of these filters. */
export type OrganizationPageQuery = SearchQuery & NearEndQuery

/** The organizations of a gateway. */
export type OrganizationQueries = {
  list(): Promise<readonly OrganizationAccount[]>
  /** Whether there is more than one. */
  areSeveral(): Promise<boolean>
  /** One page by the time of creation; undefined if there is no item with the id `after`. */
  page(query: OrganizationPageQuery): Promise<ListedPage<OrganizationAccount> | undefined>
  /** Finds an organization by its id or by its name; resolves with undefined if there is none. */
  find(reference: string): Promise<OrganizationAccount | undefined>
}

/** The organizations, and their changes by one actor. Each function rejects with a message for the operator. */
export type Organizations = OrganizationQueries & {
  create(name: string, settings?: Omit<OrganizationChange, 'name'>): Promise<OrganizationAccount>
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

/** A project as operators see it. Times are milliseconds since 1970. */
export type ProjectRecord = Project & {
  /** The id and the name of its organization. */
  readonly organizationId: string
  readonly organization: string
  readonly createdAt: number
  /** Null while it exists. */
  readonly deletedAt: number | null
}

export type ProjectInput = AllowanceChange & {
  /** The name of an organization. */
  readonly organization: string
  readonly name: string
}

/** The fields to change; absent fields stay. */
export type ProjectChange = AllowanceChange & { readonly name?: string }

/** The projects of a page: those of all organizations or of one, with or without deleted ones. */
export type ProjectPageQuery = NearEndQuery & {
  readonly organizationId?: string | undefined
  readonly deleted: boolean
}

/** The projects of a gateway; names are unique within an organization. */
export type ProjectQueries = {
  /** Those that exist, the oldest first; of all organizations if none is named. */
  list(organization?: string): Promise<readonly ProjectRecord[]>
  /** One page by the time of creation; undefined if there is no item with the id `after`. */
  page(query: ProjectPageQuery): Promise<ListedPage<ProjectRecord> | undefined>
  /** Finds a project by its id, also a deleted one. */
  find(id: string): Promise<ProjectRecord | undefined>
  /** The names of those with these ids, also of deleted ones, by id. */
  names(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** The projects, and their changes by one actor. Each function rejects with a message for the operator. */
export type Projects = ProjectQueries & {
  create(input: ProjectInput): Promise<ProjectRecord>
  change(id: string, change: ProjectChange): Promise<ProjectRecord>
  /** From then on its keys are rejected; it stays in the usage. A deleted one stays so. */
  delete(id: string): Promise<ProjectRecord>
}

/** A key without its secret. Times are milliseconds since 1970. */
export type KeyRecord = {
  readonly id: string
  readonly name: string
  /** The id of its organization, and its name, which is null if that is deleted. */
  readonly organizationId: string
  readonly organization: string | null
  /** Null for a key without a project. */
  readonly project: { readonly id: string; readonly name: string } | null
  /** The id of the key that created it out of its own budget. */
  readonly parent: string | null
  /** The id that its budget and its rate limits have: that of the first key, if it replaces one. */
  readonly limitsId: string
  readonly limits: Allowance
  readonly permissions: readonly KeyPermission[]
  readonly tags: readonly string[]
  readonly note: string | null
  readonly contentLog: boolean
  readonly last4: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** The id of the key that a rotation created. */
  readonly replacedBy: string | null
}

/** A new key with its secret, which is not stored and cannot be shown again. */
export type NewKey = { readonly record: KeyRecord; readonly key: Secret }

/** The properties of a key that can be changed; absent ones stay, or are empty in a new key. */
export type KeyChange = AllowanceChange & {
  readonly name?: string
  /** The id of a project of its organization. */
  readonly project?: string | null
  readonly expiresAt?: number | null
  readonly permissions?: readonly KeyPermission[]
  readonly tags?: readonly string[]
  readonly note?: string | null
  /** The keys that it has created follow. Only the operator changes it. */
  readonly contentLog?: boolean
}

export type KeyInput = KeyChange & {
  /** The name of an organization. */
  readonly organization: string
  readonly name: string
  readonly expiresAt: number | null
  /** When its lifetime begins, in milliseconds since 1970; absent: at the time of the transaction. */
  readonly createdAt?: number
}

/** A key that another one creates; its budget is required, and has no periods. */
export type MintInput = Pick<KeyInput, 'name' | 'expiresAt' | 'createdAt' | 'models' | 'tags' | 'note'> & {
  readonly budget: Nanos
}

/** The keys of a page: all of them, or those that match each of these filters. */
export type KeyPageQuery = SearchQuery &
  NearEndQuery & {
    /** The ids of their organization, of their project, and of the key that created them. */
    readonly organizationId?: string | undefined
    readonly projectId?: string | undefined
    readonly parentId?: string | undefined
    /** Those with this permission. */
    readonly permission?: KeyPermission | undefined
    readonly unrevoked?: boolean
    /** Milliseconds since 1970. Only those that are neither revoked nor expired then. */
    readonly usableAt?: number | undefined
  }

/** The API keys of a gateway. */
export type KeyQueries = {
  list(): Promise<readonly KeyRecord[]>
  /** One page by the time of creation; undefined if none of the keys that match has the id `after`. */
  page(query: KeyPageQuery): Promise<ListedPage<KeyRecord> | undefined>
  find(id: string): Promise<KeyRecord | undefined>
  /** The names of those with these ids, by id. */
  names(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** When the keys of these organizations were last used, by their ids: exact within the last hour, else when that hour began. */
  lastUses(organizationIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Returns what is left of the budgets of keys that have ended to those that created them, and resolves with their number. */
  returnAllocations(): Promise<number>
}

/** The API keys, and their changes by one actor. Each function rejects with a message for the operator. */
export type Keys = KeyQueries & {
  create(input: KeyInput): Promise<NewKey>
  /**
   * Creates a key within the limits of another one, and takes its budget from that of the other. The other gets back what
   * is left by `returnAllocations` once one of them has expired or is revoked. A key that was created so cannot create others.
   */
  mint(parentId: string, input: MintInput): Promise<NewKey>
  change(id: string, change: KeyChange): Promise<KeyRecord>
  /** Revokes the key and those that it has created. */
  revoke(id: string): Promise<KeyRecord>
  /** Creates a key with the same properties and lifetime; the old one expires after `grace` milliseconds. Both spend one budget. */
  rotate(id: string, grace: number): Promise<NewKey>
}

/** Projects of an organization and keys, which name their projects. */
export type AccountImport = {
  /** The name of an organization. */
  readonly organization: string
  /** A project that exists stays as it is. */
  readonly projects: readonly Omit<ProjectInput, 'organization'>[]
  readonly keys: readonly ImportedKey[]
}

export type ImportedKey = Omit<KeyInput, 'organization' | 'project'> & {
  /** The name of a project that is imported too, or exists; null for none. */
  readonly project: string | null
}

/** Why a change is not possible: the object does not exist, the change is not valid for it, or a budget has too little left. */
type OperatorProblem = 'missing' | 'invalid' | 'budget'

/** A change that the operator requested is not possible; the message says why. */
export class OperatorError extends Error {
  readonly problem: OperatorProblem

  constructor(problem: OperatorProblem, message: string) {
    super(message)
    this.name = 'Error' // As the plain error that the command line prints.
    this.problem = problem
  }
}
