import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { describe } from '../../http/describe.ts'
import { invalidCursor, listSchema, pageParameters, renderSlice, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { auditIdPattern, renderAuditEntry } from '../../http/render-audit.ts'
import { AuditLogObject } from '../../http/objects/audit.ts'
import { jsonText } from '../../http/reply.ts'
import { storableText, stringEnum } from '../../http/schema.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import { auditEvents } from '../../storage/ports/audit.ts'
import type { Managed } from '../../storage/ports/storage.ts'
import { adminErrors, type AdminGuard } from './admin-guard.ts'
import { findOrganization } from './organizations.ts'

/** The dependencies of the routes of the audit log. */
export type AuditRouteDependencies = { readonly managed: Pick<Managed, 'organizations' | 'audit'> }

/** The end of the year 9999. */
const maxSeconds = 253_402_300_799

const filter = (description: string) => Type.Optional(storableText({ maxLength: 256, description }))
const time = (description: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: maxSeconds, description: `${description} In Unix seconds.` }),
  )

const listQuery = defineQuery({
  organization: filter('Only changes of this organization and of what belongs to it. Its ID or its name.'),
  actor: filter('Only changes by this actor. The ID or the name of a key, or the name of a user.'),
  event: Type.Optional(stringEnum(auditEvents, { description: 'Only changes of this kind.' })),
  resource: filter('Only changes of the object with this ID or this name.'),
  start_time: time('Only changes at this time or later.'),
  end_time: time('Only changes before this time.'),
  ...pageParameters('entry', 'desc'),
})

const listDetail = describe({
  tag: 'Admin',
  id: 'listAuditLogs',
  summary: 'List changes',
  description:
    'Lists who changed what, when and from where, the newest first by default. All filters must apply. An entry is kept when ' +
    'its object, its organization or the key that made the change is deleted.',
  query: listQuery.parameters,
  reply: listSchema(AuditLogObject, 'AuditLogList'),
  errors: [400, 404, ...adminErrors],
})
const findDetail = describe({
  tag: 'Admin',
  id: 'getAuditLog',
  summary: 'Get a change',
  description: 'Returns an entry of the audit log.',
  path: { entry: 'The ID of an entry.' },
  reply: AuditLogObject,
  errors: [404, ...adminErrors],
})

/** The routes of the audit log. */
export function auditAdminRoutes(guard: AdminGuard, { managed }: AuditRouteDependencies) {
  return new Elysia({ name: 'admin-audit-logs' })
    .use(guard)
    .get('/admin/audit_logs', ({ request }) => listPage(request, managed), { detail: listDetail })
    .get(
      '/admin/audit_logs/:entry',
      async ({ params }) => {
        const found = auditIdPattern.test(params.entry) && (await managed.audit.find(params.entry))
        if (found) return renderAuditEntry(found)
        throw adminObjectNotFound(`There is no entry '${params.entry.slice(0, 100)}' of the audit log.`)
      },
      { detail: findDetail },
    )
}

async function listPage(request: Request, { audit, organizations }: AuditRouteDependencies['managed']) {
  const { organization, actor, event, resource, start_time, end_time, ...query } = listQuery.read(request)
  if (query.after !== undefined && !auditIdPattern.test(query.after)) throw noEntry()
  const page = await audit.page({
    ...toPage(query, 'desc'),
    organizationId: organization && (await organizationIdOf(organizations, organization)),
    actors: actor === undefined ? undefined : [actor],
    events: event && [event],
    resources: resource === undefined ? undefined : [resource],
    since: start_time && start_time * 1000,
    until: end_time && end_time * 1000,
  })
  if (page === undefined) throw noEntry()
  return jsonText(renderSlice({ ...page, items: page.items.map(renderAuditEntry) }))
}

const noEntry = () => invalidCursor('an entry of the audit log')

/** A deleted one is named by its id. */
async function organizationIdOf(organizations: Managed['organizations'], reference: string): Promise<string> {
  if (/^org_[0-9a-f]{32}$/.test(reference)) return reference
  return (await findOrganization(organizations, reference)).id
}
