import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { AdminAccess } from '../../http/admin-access.ts'
import { describe } from '../../http/describe.ts'
import { eventStream } from '../../http/event-stream.ts'
import type { LiveEvent } from '../../observability/live-event.ts'
import type { LiveRequests } from '../../observability/live-requests.ts'
import type { RequestTracker } from '../../observability/request-tracker.ts'
import { adminErrors, type AdminGuard, type AdminGuardDependencies, createAdminGuard } from './admin-guard.ts'
import { keyAdminRoutes } from './key-routes.ts'
import { createKeyService } from './keys.ts'
import { organizationAdminRoutes } from './organization-routes.ts'
import { createOrganizationService, type OrganizationServiceDependencies } from './organizations.ts'
import { projectAdminRoutes } from './project-routes.ts'
import { createProjectService } from './projects.ts'
import { providerAdminRoutes, type ProviderListDependencies } from './provider-routes.ts'
import { webhookAdminRoutes, type WebhookRouteDependencies } from './webhook-routes.ts'

/** The dependencies of the admin API. */
export type AdminDependencies = AdminGuardDependencies &
  OrganizationServiceDependencies &
  ProviderListDependencies &
  WebhookRouteDependencies &
  LiveRequestDependencies

/** The admin API: what the command line does, for programs that have an admin key. */
export function adminRoutes(parts: AdminDependencies) {
  const guard = createAdminGuard(parts)
  return new Elysia({ name: 'admin' })
    .use(organizationAdminRoutes(guard, createOrganizationService(parts)))
    .use(keyAdminRoutes(guard, createKeyService(parts)))
    .use(projectAdminRoutes(guard, createProjectService(parts)))
    .use(providerAdminRoutes(guard, parts))
    .use(webhookAdminRoutes(guard, parts))
    .use(liveRequestRoutes(guard, parts))
}

const detail = describe({
  tag: 'Admin',
  id: 'streamRequests',
  summary: 'Stream the live requests',
  description:
    'Streams an event when a request to a model starts, has its first token, and ends; first those in progress. The data ' +
    'of an event is JSON without prompts and responses. A client that reads too slowly misses events, and receives a ' +
    '`dropped` event with their number.',
  reply: Type.String(),
  mediaType: 'text/event-stream',
  errors: adminErrors,
})

type LiveRequestDependencies = {
  readonly liveRequests: Pick<LiveRequests, 'subscribe'>
  readonly requests: Pick<RequestTracker, 'calling'>
  readonly adminAccess: AdminAccess
}

/** The stream of live requests. */
function liveRequestRoutes(
  guard: AdminGuard,
  { liveRequests, requests, adminAccess }: LiveRequestDependencies,
) {
  return new Elysia({ name: 'admin-requests' }).use(guard).get(
    '/admin/requests',
    ({ request }) =>
      eventStream(
        {
          items: liveRequests.subscribe(requests.calling()),
          frames: ({ type, ...data }: LiveEvent) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`,
          end: () => '',
          failed: () => '',
        },
        { method: request.method, watch: adminAccess.watch(request.headers) },
      ),
    { detail },
  )
}
