import { Elysia } from 'elysia'
import { type AdminDependencies, adminRoutes } from '../api/admin/routes.ts'
import { ChatCompletionChunk, FragmentedChunk } from '../api/chat-completions/reply-schema.ts'
import { chatPath, chatRoutes } from '../api/chat-completions/routes.ts'
import { createChatService } from '../api/chat-completions/service.ts'
import { completionRoutes } from '../api/chat-completions/stored-routes.ts'
import { managementRoutes } from '../api/organization/management/routes.ts'
import { ownOrganizationRoutes } from '../api/organization/own-organization.ts'
import { createUsageGuard, organizationRoutes } from '../api/organization/routes.ts'
import { createCompletionService } from '../api/chat-completions/stored-completions.ts'
import { createTokenCounter } from '../api/messages/prepare-message.ts'
import { messageRoutes, type MessagesApi, messagesPath } from '../api/messages/routes.ts'
import { createMessageService } from '../api/messages/service.ts'
import { completionsPath, textCompletionRoutes } from '../api/completions/routes.ts'
import { createTextCompletionService } from '../api/completions/service.ts'
import { embeddingRoutes, embeddingsPath } from '../api/embeddings/routes.ts'
import { createEmbeddingService } from '../api/embeddings/service.ts'
import { modelRoutes } from '../api/models/routes.ts'
import { page } from '../api/page/routes.ts'
import type { Runs } from '../api/responses/background/runs.ts'
import type { FollowedResponses } from '../api/responses/live/followed-responses.ts'
import type { LiveResponses } from '../api/responses/live/live-response.ts'
import { responseListRoutes, storedResponseRoutes } from '../api/responses/response-routes.ts'
import { responseRoutes, responsesPath } from '../api/responses/routes.ts'
import { createResponseService, type ResponseService } from '../api/responses/service.ts'
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
import type { KeyDirectory } from '../storage/ports/accounts.ts'
import type { Responses } from '../storage/ports/responses.ts'
import type { UsageBuckets } from '../storage/ports/usage.ts'

/** The services that the routes use. */
export type AppDependencies = {
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
  const { toolCallFragments, logprobs } = compatibility
  const guard = createGuard({ ...dependencies, maxBody: settings.maxBody })
  const chat = createChatService({ gateway, models, unsupported, toolCallFragments, logprobs })
  const responses = createResponsesApi(dependencies)
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
    .use(chatRoutes(guard, chat, log, toolCallFragments ? FragmentedChunk : ChatCompletionChunk))
    .use(completionRoutes(guard, createCompletionService({ completions, models })))
    .use(responseRoutes(guard, responses, log))
    .use(responseListRoutes(guard, responses))
    .use(storedResponseRoutes(guard, responses, log))
    .use(messageRoutes(guard, createMessagesApi(dependencies), log))
    .use(textCompletionRoutes(guard, createTextCompletionService({ gateway, models, unsupported }), log))
    .use(embeddingRoutes(guard, createEmbeddingService({ gateway, models, unsupported })))
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

function createResponsesApi({
  settings,
  gateway,
  models,
  responses,
  live,
  followed,
  runs,
  largeBodies,
}: AppDependencies): ResponseService {
  const { compatibility: options, unsupportedParameters: unsupported } = settings
  const { functionTools } = options
  return createResponseService({
    gateway,
    models,
    unsupported,
    functionTools,
    responses,
    live,
    followed,
    runs,
    largeBodies,
    options,
  })
}

function createOrganizationApi(guard: Guard, { admin, settings, models, now }: AppDependencies) {
  return ownOrganizationRoutes(guard, { ...admin.managed, limits: settings.limits, models, now })
}

function createMessagesApi({ gateway, models, settings }: AppDependencies): MessagesApi {
  const prepare = { models, unsupported: settings.unsupportedParameters }
  return { messages: createMessageService({ ...prepare, gateway }), countTokens: createTokenCounter(prepare) }
}
