import { Elysia } from 'elysia'
import { chatPath } from './chat/path.ts'
import { ChatCompletionChunk, FragmentedChunk } from './chat/reply-schema.ts'
import { chatRoutes } from './chat/routes.ts'
import { createChatService } from './chat/service.ts'
import { storedRoutes } from './chat/stored-routes.ts'
import { createStoredService } from './chat/stored-service.ts'
import type { Settings } from './config/settings.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { Limits } from './gateway/limits/limits.ts'
import type { Models } from './gateway/models/model.ts'
import { crossOrigin } from './http/cross-origin.ts'
import { errorReplies, otherMethods } from './http/errors.ts'
import { createGuard } from './http/guard.ts'
import { openApi } from './http/openapi.ts'
import { type AskingPaths, enterRefused } from './http/refusals.ts'
import { requestId } from './http/request-id.ts'
import type { Route } from './http/route-hint.ts'
import { timing } from './http/timing.ts'
import type { Log } from './lib/log.ts'
import { modelRoutes } from './models/routes.ts'
import type { Requests } from './observe/requests.ts'
import type { LiveResponses } from './responses/live-responses.ts'
import { responsesPath } from './responses/path.ts'
import { readingRoutes } from './responses/reading-routes.ts'
import { responseRoutes } from './responses/routes.ts'
import type { Runs } from './responses/runs/runs.ts'
import { createResponseService } from './responses/service.ts'
import type { Completions } from './storage/completions.ts'
import type { KeyDirectory } from './storage/key-directory.ts'
import type { MetricsPage } from './system/metrics-page.ts'
import type { Responses } from './storage/responses.ts'
import { type Readiness, systemRoutes } from './system/routes.ts'

export type AppParts = {
  readonly settings: Pick<Settings, 'cors' | 'maxBody' | 'unsupportedParameters' | 'compatibility'>
  readonly models: () => Models
  readonly gateway: Gateway
  readonly keys: KeyDirectory
  readonly completions: Completions
  readonly responses: Responses
  /** The responses that are being made. */
  readonly live: LiveResponses
  readonly runs: Runs
  readonly limits: Limits
  readonly ready: Readiness
  readonly metrics: MetricsPage
  readonly requests: Requests
  readonly log: Log
}

const askingPaths: AskingPaths = new Map([
  [chatPath, 'chat'],
  [responsesPath, 'responses'],
])

/** The whole interface: what every request passes, then the features. */
export function createApp(parts: AppParts) {
  const { settings, models, gateway, keys, completions, limits, log } = parts
  const { compatibility, unsupportedParameters: unsupported } = settings
  const { toolCallFragments } = compatibility
  const guard = createGuard({ keys, limits, maxBody: settings.maxBody })
  const chat = createChatService({ gateway, models, completions, unsupported, toolCallFragments })
  const responses = createResponseService({
    gateway,
    models,
    unsupported,
    responses: parts.responses,
    live: parts.live,
    runs: parts.runs,
    options: compatibility,
  })
  let served: readonly Route[] = []
  // Host names of any length, `ai` for one: Elysia would cut the path of a short one wrongly.
  const app = new Elysia({ name: 'weir', normalize: false, handler: { standardHostname: false } })
    .use(requestId())
    .use(crossOrigin(settings.cors))
    .use(timing(parts.requests))
    .use(
      errorReplies(
        log,
        (failed) => enterRefused(gateway, askingPaths, failed),
        () => served,
      ),
    )
    .use(systemRoutes(parts.ready, parts.metrics))
    .use(modelRoutes(guard, models))
    .use(chatRoutes(guard, chat, log, toolCallFragments ? FragmentedChunk : ChatCompletionChunk))
    .use(storedRoutes(guard, createStoredService({ completions, models })))
    .use(responseRoutes(guard, responses, log))
    .use(readingRoutes(guard, responses, log))
  // These go by the list of the routes.
  app.use(openApi(app.routes))
  served = app.routes.map(({ method, path }) => ({ method, path }))
  return app.use(otherMethods(app.routes))
}
