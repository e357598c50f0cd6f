import { Elysia } from 'elysia'
import { type AdminDependencies, adminRoutes } from '../api/admin/routes.ts'
import { chatPath, chatRoutes } from '../api/chat-completions/routes.ts'
import { completionRoutes } from '../api/chat-completions/stored-routes.ts'
import { managementRoutes } from '../api/organization/management/routes.ts'
import { ownOrganizationRoutes } from '../api/organization/own-organization.ts'
import { createUsageGuard, organizationRoutes } from '../api/organization/routes.ts'
import { createCompletionService } from '../api/chat-completions/stored-completions.ts'
import { messageRoutes, messagesPath } from '../api/messages/routes.ts'
import { completionsPath, textCompletionRoutes } from '../api/completions/routes.ts'
import { embeddingRoutes, embeddingsPath } from '../api/embeddings/routes.ts'
import { modelRoutes } from '../api/models/routes.ts'
import { page } from '../api/page/routes.ts'
import type { Runs } from '../api/responses/background/runs.ts'
import type { FollowedResponses } from '../api/responses/live/followed-responses.ts'
import type { LiveResponses } from '../api/responses/live/live-response.ts'
import { responseListRoutes, storedResponseRoutes } from '../api/responses/response-routes.ts'
import { responseRoutes, responsesPath } from '../api/responses/routes.ts'
import type { MetricsPage } from '../api/system/metrics-page.ts'
import { type Readiness, systemRoutes } from '../api/system/routes.ts'
import type { Settings } from '../config/settings.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Models } from '../gateway/models/models.ts'
import type { LargeBodies } from '../gateway/rate-limits/large-bodies.ts'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import type { AddressOf } from '../http/actor.ts'
import type { AdminAccess } from '../http/admin-access.ts'
import type { KeyWatch } from '../http/authentication.ts'
import { cors } from '../http/cors.ts'
import { errorHandler, type GenerationPaths, recordRejected } from '../http/errors.ts'
import { reachability, rejectOtherMethods, rejectUpgrades, type Route } from '../http/routing.ts'
import { createGuard, type Guard } from '../http/guard.ts'
import { openApi } from '../http/openapi.ts'
import { requestTelemetry, standardHeaders } from '../http/request-telemetry.ts'
import type { Log } from '../lib/log.ts'
import type { RequestTracker } from '../observability/request-tracker.ts'
import type { Completions } from '../storage/ports/completions.ts'
import type { KeyDirectory } from '../storage/ports/known-keys.ts'
import type { Responses } from '../storage/ports/responses.ts'
import type { UsageBuckets } from '../storage/ports/usage.ts'

/** The services that the routes use. */
type AppDependencies = {
  readonly settings: Pick<
    Settings,
    'cors' | 'page' | 'limits' | 'maxBody' | 'unsupportedParameters' | 'compatibility'
  >
  readonly models: () => Models
  readonly gateway: Gateway
  readonly keys: KeyDirectory
  readonly completions: Completions
  readonly responses: Responses
  readonly usageBuckets: UsageBuckets
  readonly admin: Omit<
    AdminDependencies,
    'adminAccess' | 'addressOf' | 'cors' | 'gateway' | 'keys' | 'requests' | 'log'
  >
  readonly adminAccess: AdminAccess
  readonly addressOf: AddressOf
  /** The responses in progress. */
  readonly live: LiveResponses
  /** Those of the other processes; undefined if this one is alone. */
  readonly followed: FollowedResponses
  readonly runs: Runs
  readonly limits: RateLimits
  readonly largeBodies: LargeBodies
  readonly keyWatch: KeyWatch
  readonly ready: Readiness
  /** Milliseconds since 1970, by which the periods of budgets begin. */
  readonly now: (() => number) | undefined
  readonly metrics: MetricsPage
  readonly requests: RequestTracker
  readonly log: Log
}

const generationPaths: GenerationPaths = new Map([
  [chatPath, 'chat'],
  [responsesPath, 'responses'],
  [messagesPath, 'messages'],
  [completionsPath, 'completions'],
  [embeddingsPath, 'embeddings'],
])

/** Creates the HTTP application: middleware for every request, then the routes of each API. */
export function createApp(dependencies: AppDependencies) {
  const { settings, models, gateway, completions, log } = dependencies
  const { compatibility, unsupportedParameters: unsupported } = settings
  const guard = createGuard({ ...dependencies, maxBody: settings.maxBody })
  const generation = { gateway, models, unsupported }
  const responses = { ...dependencies, ...compatibility, unsupported, options: compatibility }
  let routes: readonly Route[] = []
  // `aot` would otherwise depend on the variable ELYSIA_AOT, and bodies are read only by compiled handlers.
  // `standardHostname: false` would find no route of an https URL; `listen` replaces host names that are too short.
  const app = new Elysia({ name: 'weir', aot: true, normalize: false, handler: { standardHostname: true } })
    .use(standardHeaders())
    .use(cors(settings.cors))
    .use(reachability())
    .use(page(settings.page))
    .use(requestTelemetry(dependencies.requests))
    .use(
      errorHandler(
        log,
        (failed) => recordRejected(gateway, generationPaths, failed),
        () => routes,
      ),
    )
    .use(rejectUpgrades())
    .use(systemRoutes(dependencies.ready, dependencies.metrics))
    .use(modelRoutes(guard, models))
    .use(chatRoutes(guard, { ...generation, ...compatibility }, log))
    .use(completionRoutes(guard, createCompletionService({ completions, models })))
    .use(responseRoutes(guard, responses, log))
    .use(responseListRoutes(guard, responses))
    .use(storedResponseRoutes(guard, responses, log))
    .use(messageRoutes(guard, generation, log))
    .use(textCompletionRoutes(guard, generation, log))
    .use(embeddingRoutes(guard, generation))
    .use(adminRoutes({ ...dependencies.admin, ...dependencies, cors: settings.cors }))
    .use(createOrganizationApi(guard, dependencies))
    .use(managementRoutes(guard, settings.limits, { ...dependencies.admin, ...dependencies }))
    .use(createReportApi(dependencies))
  // These depend on the list of routes.
  app.use(openApi(app.routes))
  routes = app.routes.map(({ method, path }) => ({ method, path }))
  return app.use(rejectOtherMethods(app.routes))
}

function createReportApi(dependencies: AppDependencies) {
  const { usageBuckets: buckets, admin, gateway } = dependencies
  const { userHash } = gateway
  return organizationRoutes(createUsageGuard(dependencies), { ...admin.managed, buckets, userHash })
}

function createOrganizationApi(guard: Guard, { admin, settings, models, now }: AppDependencies) {
  return ownOrganizationRoutes(guard, { ...admin.managed, limits: settings.limits, models, now })
}
