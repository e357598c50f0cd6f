import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { AdminAccess } from '../../http/admin-access.ts'
import { eventStream } from '../../http/event-stream.ts'
import { invalidCursor, listSchema } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import {
  renderContent,
  renderRequest,
  requestIdPattern,
  statusFilterPattern,
} from '../../http/render-request.ts'
import { RequestContent, RequestObject } from '../../http/objects/request.ts'
import { storableText, text } from '../../http/schema.ts'
import { isUserHash } from '../../gateway/access/user-hash.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import type { LiveEvent } from '../../observability/live-event.ts'
import type { LiveRequests } from '../../observability/live-requests.ts'
import type { RequestTracker } from '../../observability/request-tracker.ts'
import type { Managed } from '../../storage/ports/storage.ts'
import { type AdminGuard, describeAdmin } from './admin-guard.ts'
import { findOrganization } from './organizations.ts'

/** The dependencies of the routes of requests. */
export type RequestRouteDependencies = {
  readonly managed: Pick<Managed, 'organizations' | 'requests' | 'by'>
  readonly liveRequests: Pick<LiveRequests, 'subscribe'>
  readonly requests: Pick<RequestTracker, 'calling'>
  readonly adminAccess: AdminAccess
  readonly gateway: Pick<Gateway, 'userHash'>
}

const filter = (description: string) => Type.Optional(storableText({ maxLength: 256, description }))
const time = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} In Unix seconds.` }))

const listQuery = defineQuery({
  organization: filter('Only requests of this organization. Its ID or its name.'),
  project: filter('Only requests of the project with this ID.'),
  key: filter('Only requests with the API key with this ID.'),
  model: filter('Only requests to the model with this slug.'),
  provider: filter('Only requests that this provider served, or for which it was the last one tried.'),
  status: Type.Optional(
    Type.String({
      pattern: statusFilterPattern.source,
      description:
        'Only requests with this status. `4xx` are those from 400 to 498, `5xx` those from 500 on, and `failed` is every ' +
        'request that ended with an error, also in the middle of a stream.',
    }),
  ),
  error: filter('Only requests with this error code, or the type of the error for errors without one.'),
  user: filter('Only requests of this user, as clients name it or as it is recorded.'),
  session: filter('Only requests of this session.'),
  start_time: time('Only requests that arrived at this time or later.'),
  end_time: time('Only requests that arrived before this time.'),
  after: Type.Optional(text('The `last_id` of the previous page. The page has older requests.')),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 50,
      description: 'The maximum number of requests to return, from 1 to 100.',
    }),
  ),
})

const listDetail = describeAdmin({
  id: 'listRequests',
  summary: 'List finished requests, or stream the live ones',
  description:
    'Lists the finished requests to models, the newest first, without prompts and responses. All filters must apply. A page ' +
    'may have fewer requests than `limit`, or none, although `has_more` is true: a search ends after some work, and the next ' +
    'page goes on at `last_id`. With `Accept: text/event-stream`, it streams an event when a request starts, has its first ' +
    'token, and ends; first those in progress. A client that reads too slowly misses events, and receives a `dropped` event ' +
    'with their number.',
  query: listQuery.parameters,
  reply: listSchema(RequestObject, 'RequestList'),
  frames: { schema: Type.String(), end: 'the connection' },
  errors: [404],
})
const path = { request: 'The ID of a request.' }
const findDetail = describeAdmin({
  id: 'getRequest',
  summary: 'Get a finished request',
  description:
    'Returns a finished request with its attempts, times, tokens, cost, warnings and error message.',
  path,
  reply: RequestObject,
})
const contentDetail = describeAdmin({
  id: 'getRequestContent',
  summary: 'Get the content of a finished request',
  description:
    'Returns what a finished request asked and what was answered, if the content log of its API key was on. Each time, the ' +
    'audit log has an entry of it. Requires an admin key with the permission `content`.',
  path,
  reply: RequestContent,
})

/** The routes of requests, finished and live. */
export function requestAdminRoutes(guard: AdminGuard, parts: RequestRouteDependencies) {
  return new Elysia({ name: 'admin-requests' })
    .use(guard)
    .get(
      '/admin/requests',
      ({ request }) => (wantsEvents(request) ? streamLive(request, parts) : listPage(request, parts)),
      { detail: listDetail },
    )
    .get('/admin/requests/:request', ({ params }) => findRequest(params.request, parts.managed), {
      detail: findDetail,
    })
    .get(
      '/admin/requests/:request/content',
      async ({ params, request, actor }) => {
        await parts.adminAccess.require(request.headers, 'content')
        const { id } = await findRequest(params.request, parts.managed)
        const content = renderContent(await parts.managed.by(actor).readContent(id))
        return { object: 'request.content' as const, id, ...content }
      },
      { detail: contentDetail },
    )
}

function wantsEvents({ headers }: Request): boolean {
  return headers.get('accept')?.includes('text/event-stream') === true
}

function streamLive(request: Request, { liveRequests, requests, adminAccess }: RequestRouteDependencies) {
  return eventStream(
    {
      items: liveRequests.subscribe(requests.calling()),
      frames: ({ type, ...data }: LiveEvent) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`,
      end: () => '',
      failed: () => '',
    },
    { method: request.method, watch: adminAccess.watch(request.headers) },
  )
}

async function listPage(request: Request, { managed, gateway }: RequestRouteDependencies) {
  const { organizations, requests } = managed
  const { after, limit = 50, start_time, end_time, organization, user, ...filters } = listQuery.read(request)
  if (after !== undefined && !requestIdPattern.test(after)) throw invalidCursor('a request')
  const { items, next } = await requests.page({
    filters: {
      ...filters,
      user: user && recordedUser(user, gateway),
      organization: organization && (await findOrganization(organizations, organization)).id,
    },
    since: start_time && start_time * 1000,
    until: end_time && end_time * 1000,
    after,
    limit,
  })
  return {
    object: 'list' as const,
    data: items.map(render),
    first_id: items[0]?.id ?? null,
    last_id: next ?? items.at(-1)?.id ?? null,
    has_more: next !== undefined,
  }
}

/** Clients name a user; where users are recorded as hashes, a report has these. */
function recordedUser(user: string, { userHash }: Pick<Gateway, 'userHash'>): string {
  return userHash === undefined || isUserHash(user) ? user : userHash(user)
}

async function findRequest(id: string, { requests }: RequestRouteDependencies['managed']) {
  const found = await requests.find(id)
  if (found === undefined) throw adminObjectNotFound(`There is no request '${id.slice(0, 100)}'.`)
  return render(found)
}

function render(request: Parameters<typeof renderRequest>[0]) {
  return { object: 'request' as const, ...renderRequest(request) }
}
