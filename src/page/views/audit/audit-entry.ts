import type { AuditEntry } from '../../api/objects.ts'

/** The values of the fields that a change has changed. */
export type Fields = Readonly<Record<string, unknown>>

/** The filters by their name in the API and in the address, and for people. */
export const filterNames = {
  organization: 'Organization',
  actor: 'Actor',
  resource: 'Object',
  event: 'Event',
} as const

/** The kinds of events that the view offers. */
export const events = [
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
  'webhook.retried',
  'webhook_delivery.retried',
  'settings.reloaded',
  'catalog.updated',
] as const

/** The name of an actor or an object, or what it is without one. */
export function nameOf({ type, id, name }: AuditEntry['resource']): string {
  return name ?? id ?? type.replaceAll('_', ' ')
}

/** From where a change was made, for people. */
export function sourceText(source: string): string {
  return sources[source] ?? source
}

const sources: Readonly<Record<string, string>> = {
  api: 'API',
  page: 'Page',
  cli: 'Command line',
  server: 'Server',
}
