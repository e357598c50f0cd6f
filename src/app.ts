import { Elysia } from 'elysia'
import { enterRefused } from './chat/refusals.ts'
import { chatRoutes } from './chat/routes.ts'
import { createChatService } from './chat/service.ts'
import type { Settings } from './config/settings.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { Limits } from './gateway/limits/limits.ts'
import type { Models } from './gateway/models/model.ts'
import { crossOrigin } from './http/cross-origin.ts'
import { errorReplies, otherMethods } from './http/errors.ts'
import { createGuard } from './http/guard.ts'
import { openApi } from './http/openapi.ts'
import { requestId } from './http/request-id.ts'
import { timing } from './http/timing.ts'
import type { Log } from './lib/log.ts'
import { modelRoutes } from './models/routes.ts'
import type { KeyDirectory } from './storage/key-directory.ts'
import { type Readiness, systemRoutes } from './system/routes.ts'

export type AppParts = {
  readonly settings: Pick<Settings, 'cors' | 'maxBody' | 'unsupportedParameters'>
  readonly models: () => Models
  readonly gateway: Gateway
  readonly keys: KeyDirectory
  readonly limits: Limits
  readonly ready: Readiness
  readonly log: Log
}

/** The whole interface: what every request passes, then the features. */
export function createApp(parts: AppParts) {
  const { settings, models, gateway, keys, limits, log } = parts
  const guard = createGuard({ keys, limits, maxBody: settings.maxBody })
  const chat = createChatService({ gateway, models, unsupported: settings.unsupportedParameters })
  // Host names of any length, `ai` for one: Elysia would cut the path of a short one wrongly.
  const app = new Elysia({ name: 'weir', normalize: false, handler: { standardHostname: false } })
    .use(requestId())
    .use(crossOrigin(settings.cors))
    .use(timing())
    .use(errorReplies(log, (failed) => enterRefused(gateway, failed)))
    .use(systemRoutes(parts.ready))
    .use(modelRoutes(guard, models))
    .use(chatRoutes(guard, chat, log))
  // These two go by the list of the routes.
  app.use(openApi(app.routes))
  return app.use(otherMethods(app.routes))
}
