import type { AuditEntry } from '../storage/ports/audit.ts'

/** The ids of entries, by which lists go on. */
export const auditIdPattern = /^audit_log-[0-9a-f]{32}$/

/** Returns an entry as the admin API returns it, and the command line prints it with `--json`. */
export function renderAuditEntry(entry: AuditEntry) {
  const { type, id, name, source, address, forwardedFor } = entry.actor
  return {
    object: 'audit_log' as const,
    id: entry.id,
    created_at: new Date(entry.createdAt).toISOString(),
    event: entry.event,
    actor: { type, id, name },
    source,
    address,
    forwarded_for: forwardedFor,
    resource: entry.resource,
    organization: entry.organization,
    organization_id: entry.organizationId,
    project: entry.projectId,
    before: entry.before,
    after: entry.after,
  }
}
