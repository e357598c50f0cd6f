import type { ListedPage, PageQuery } from './listed-pages.ts'

/** Who makes a change. `settings` is a reload of the settings file, of which only the server is known. */
export type ActorType = 'admin_key' | 'api_key' | 'command_line' | 'settings'

/** How a change is made. `page` is a claim of the client, which any program with the key can make. */
export type ChangeSource = 'api' | 'page' | 'cli' | 'server'

/** Who makes a change, and from where. It is copied to the entry, because keys are deleted. */
export type Actor = {
  readonly type: ActorType
  /** The id of the key; null for WEIR_ADMIN_KEY and without a key. */
  readonly id: string | null
  /** The name of the key, or the user of the operating system. */
  readonly name: string | null
  readonly source: ChangeSource
  /** The address of the connection, which is that of a proxy if there is one; on the command line, the name of the machine. */
  readonly address: string | null
  /** The X-Forwarded-For of the request, which only a proxy makes trustworthy. */
  readonly forwardedFor: string | null
}

/** What happened, by OpenAI's names where there is one; to revoke a key is to delete it. */
export const auditEvents = [
  'organization.created',
  'organization.updated',
  'organization.credited',
  'organization.deleted',
  'project.created',
  'project.updated',
  'project.archived',
  'api_key.created',
  'api_key.updated',
  'api_key.rotated',
  'api_key.deleted',
  'admin_key.created',
  'admin_key.deleted',
  'budget.released',
  'content.read',
  'webhook_delivery.retried',
  'webhook.retried',
  'settings.reloaded',
  'catalog.updated',
] as const

export type AuditEvent = (typeof auditEvents)[number]

/** What was changed, or read. Its name is copied as well. */
export type AuditResource = {
  readonly type:
    | 'organization'
    | 'project'
    | 'api_key'
    | 'admin_key'
    | 'request'
    | 'webhook'
    | 'webhook_delivery'
    | 'settings'
    | 'catalog'
  readonly id: string | null
  readonly name: string | null
}

/** The values of the fields that a change has changed, by their names in the admin API. */
export type AuditFields = Readonly<Record<string, unknown>>

/** One change. */
export type AuditEntry = {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly event: AuditEvent
  readonly actor: Actor
  readonly resource: AuditResource
  /** Null for what belongs to no organization. */
  readonly organizationId: string | null
  readonly organization: string | null
  readonly projectId: string | null
  /** Only what has changed; null for what did not exist before, or does not any more. */
  readonly before: AuditFields | null
  readonly after: AuditFields | null
}

/** The entries of a page, those that match each of these filters. */
export type AuditQuery = PageQuery & {
  readonly organizationId?: string | undefined
  /** Milliseconds since 1970. */
  readonly since?: number | undefined
  /** Exclusive. */
  readonly until?: number | undefined
  /** The ids or the names of actors; a list is any of them. */
  readonly actors?: readonly string[] | undefined
  readonly actorType?: ActorType | undefined
  readonly events?: readonly AuditEvent[] | undefined
  /** The ids or the names of resources. */
  readonly resources?: readonly string[] | undefined
  /** The ids of projects: their changes, and those of keys in them. */
  readonly projects?: readonly string[] | undefined
}

/** Every change of what operators manage. Each entry is written in the transaction of its change. */
export type AuditLog = {
  /** One page by time; undefined if none of its organization has the id `after`. */
  page(query: AuditQuery): Promise<ListedPage<AuditEntry> | undefined>
  /** Returns the entry with this id; undefined if there is none. */
  find(id: string): Promise<AuditEntry | undefined>
  /** Deletes some of the entries from before a time, in milliseconds since 1970, and resolves with their number. */
  expire(before: number): Promise<number>
}

/** A change of files: of the settings that a server uses, or of the catalog. */
export type FileChange = {
  readonly event: 'settings.reloaded' | 'catalog.updated'
  readonly before: AuditFields
  readonly after: AuditFields
}
