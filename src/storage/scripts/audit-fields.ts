import { isDeepStrictEqual } from 'node:util'
import type { Allowance } from '../../domain/accounting/allowance.ts'
import { shortText } from '../../lib/text.ts'
import { formatUsd } from '../../lib/usd.ts'
import { isoTimeOrNull } from '../../lib/time.ts'
import type { KeyRecord, OrganizationAccount, ProjectRecord } from '../ports/accounts.ts'
import type { AuditFields } from '../ports/audit.ts'

/** The fields of an organization that operators change. */
export function organizationValues({ name, billing, limits }: OrganizationAccount): AuditFields {
  return { name, billing, ...limitValues(limits) }
}

/** The fields of a project that are changed. */
export function projectValues({ name, limits, deletedAt }: ProjectRecord): AuditFields {
  return { name, ...limitValues(limits), deleted_at: isoTimeOrNull(deletedAt) }
}

/** The fields of an API key that are changed; none of them is part of its secret. */
export function keyValues(key: KeyRecord): AuditFields {
  const { name, project, parent, permissions, tags, note, contentLog, limits } = key
  return {
    name,
    project: project?.id ?? null,
    parent,
    permissions,
    tags,
    note,
    content_log: contentLog,
    ...limitValues(limits),
    expires_at: isoTimeOrNull(key.expiresAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    replaced_by: key.replacedBy,
  }
}

function limitValues(limits: Allowance): AuditFields {
  return {
    budget_usd: limits.budget === null ? null : formatUsd(limits.budget),
    budget_period: limits.budgetPeriod,
    budget_time_zone: limits.budgetTimeZone,
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent_requests: limits.concurrentRequests,
    models: limits.models,
    enabled: limits.enabled,
  }
}

type Changed = { readonly before: AuditFields | null; readonly after: AuditFields | null }

/** The fields whose values differ; undefined if none do. Of what is new or deleted, those that have a value. */
export function changedFields(before: AuditFields | null, after: AuditFields | null): Changed | undefined {
  if (before === null || after === null)
    return { before: before && present(before), after: after && present(after) }
  const names = Object.keys({ ...before, ...after }).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  )
  return names.length === 0 ? undefined : { before: pick(before, names), after: pick(after, names) }
}

function present(fields: AuditFields): AuditFields {
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => (name === 'models' ? value !== null : !isEmpty(value))),
  )
}

function pick(fields: AuditFields, names: readonly string[]): AuditFields {
  return Object.fromEntries(names.map((name) => [name, fields[name] ?? null]))
}

/** A key may have a thousand models, of 256 characters each. */
const maxListed = 100
const maxText = 1000

/** The fields as they are stored: a long list or text is cut, and says so. */
export function boundedFields(fields: AuditFields): AuditFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, bounded(value)]))
}

function bounded(value: unknown): unknown {
  if (typeof value === 'string') return value.length > maxText ? shortText(value, maxText) : value
  if (!Array.isArray(value)) return value
  const listed = value.slice(0, maxListed).map(bounded)
  const more = value.length - listed.length
  return more > 0 ? [...listed, `… and ${more} more`] : listed
}
