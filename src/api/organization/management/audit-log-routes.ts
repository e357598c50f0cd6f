import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { invalidCursor, listSchema, pageParameters, pageReply, toPage } from '../../../http/paging.ts'
import { defineQuery, readList } from '../../../http/query.ts'
import { auditIdPattern } from '../../../http/render-audit.ts'
import { FreeObject, objectType, text } from '../../../http/schema.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { isStorable, storableRule } from '../../../lib/text.ts'
import { type AuditEntry, auditEvents } from '../../../storage/ports/audit.ts'
import type { Managed } from '../../../storage/ports/storage.ts'
import { describeManagement, type PermissionGuard, secondsOf } from './permission.ts'

/** The end of the year 9999. */
const maxSeconds = 253_402_300_799

const list = (description: string) => Type.Array(Type.String(), { minItems: 1, description })
const bound = (description: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: maxSeconds, description: `${description} In Unix seconds.` }),
  )

const lists = {
  'actor_ids[]': list('Only changes by the API keys with these IDs.'),
  'event_types[]': list('Only changes of these types.'),
  'project_ids[]': list('Only changes of the projects with these IDs, and of their API keys.'),
  'resource_ids[]': list('Only changes of the objects with these IDs.'),
}
const listQuery = defineQuery({
  'effective_at[gt]': bound('Only changes after this time.'),
  'effective_at[gte]': bound('Only changes at this time or later.'),
  'effective_at[lt]': bound('Only changes before this time.'),
  'effective_at[lte]': bound('Only changes at this time or earlier.'),
  ...pageParameters('entry', 'desc'),
})

const AuditLog = Type.Object(
  {
    object: objectType('organization.audit_log'),
    id: text('The ID of the entry.'),
    type: text('What happened. The field with this name has the details.'),
    effective_at: Type.Integer({ description: 'When, in Unix seconds.' }),
    project: Type.Optional(
      Type.Object({ id: Type.String() }, { description: 'The project of the object, if it has one.' }),
    ),
    actor: Type.Unsafe({
      ...FreeObject,
      description: 'The API key that made the change, or a session without details for the operator.',
    }),
    before: Type.Union([Type.Unsafe({ ...FreeObject }), Type.Null()], {
      description: 'The values before the change of the fields that it changed; null for a new object.',
    }),
    after: Type.Union([Type.Unsafe({ ...FreeObject }), Type.Null()], {
      description: 'Their values after the change; null for what does not exist any more.',
    }),
  },
  { title: 'OrganizationAuditLog' },
)

const listDetail = describeManagement({
  id: 'listOrganizationAuditLogs',
  summary: 'List changes of the organization',
  description:
    'Lists the changes of the organization and of what belongs to it, also those by the operator, the newest first by default.',
  query: { ...lists, ...listQuery.parameters },
  reply: listSchema(AuditLog, 'OrganizationAuditLogList'),
})

/** The audit log of an organization, as OpenAI's API has it. */
export function auditLogRoutes(guard: PermissionGuard, { audit }: Pick<Managed, 'audit'>) {
  return new Elysia({ name: 'organization-audit-logs' }).use(guard).get(
    '/v1/organization/audit_logs',
    async ({ caller, request }) => {
      const query = listQuery.read(request)
      if (query.after !== undefined && !auditIdPattern.test(query.after)) throw invalidCursor(cursor)
      const filters = { organizationId: caller.organization.id, ...timesOf(query), ...readFilters(request) }
      const page = await audit.page({ ...toPage(query, 'desc'), ...filters })
      return pageReply(page, cursor, (entries) => entries.map(render))
    },
    { detail: listDetail },
  )
}

const cursor = 'an entry of the audit log'

function timesOf(query: ReturnType<typeof listQuery.read>) {
  const { 'effective_at[gt]': gt, 'effective_at[gte]': gte } = query
  const { 'effective_at[lt]': lt, 'effective_at[lte]': lte } = query
  const after = [gt === undefined ? 0 : gt + 1, gte ?? 0]
  const before = [lt ?? Number.POSITIVE_INFINITY, lte === undefined ? Number.POSITIVE_INFINITY : lte + 1]
  const [since, until] = [Math.max(...after), Math.min(...before)]
  return { since: since * 1000, until: Number.isFinite(until) ? until * 1000 : undefined }
}

function readFilters(request: Request) {
  const read = (name: string) => {
    const values = readList(request, name)
    if (!values.every(isStorable))
      throw badRequest(`Invalid '${name}': must ${storableRule}.`, 'invalid_value', name)
    return values.length > 0 ? values : undefined
  }
  const [actors, types] = [read('actor_ids'), read('event_types')]
  return {
    actors,
    // Who operates the gateway is not for organizations to find out.
    actorType: actors && ('api_key' as const),
    events: ownEvents.filter((event) => types === undefined || types.includes(event)),
    projects: read('project_ids'),
    resources: read('resource_ids'),
  }
}

/** Webhooks are settings of the operator, also where what they deliver is about an organization. */
const ownEvents = auditEvents.filter((event) => !event.startsWith('webhook'))

/** Of the operator, neither the name and the address nor the notes are for organizations. */
function render(entry: AuditEntry) {
  const { id, event, createdAt, projectId, actor, resource } = entry
  const isOwn = actor.type === 'api_key'
  const before = isOwn ? entry.before : withoutNote(entry.before)
  const after = isOwn ? entry.after : withoutNote(entry.after)
  return {
    object: 'organization.audit_log',
    id,
    type: event,
    effective_at: secondsOf(createdAt),
    ...(projectId === null ? {} : { project: { id: projectId } }),
    actor: isOwn ? { type: 'api_key', api_key: keyActor(actor.id) } : { type: 'session', session: {} },
    [event]: { id: resource.id, ...detailsOf(before, after) },
    before,
    after,
  }
}

function withoutNote(fields: AuditEntry['before']): AuditEntry['before'] {
  if (fields === null) return null
  const { note: _, ...rest } = fields
  return rest
}

function keyActor(id: string | null) {
  return { id, type: 'service_account', service_account: { id } }
}

function detailsOf(before: AuditEntry['before'], after: AuditEntry['after']) {
  if (after === null) return {}
  return before === null ? { data: after } : { changes_requested: after }
}
