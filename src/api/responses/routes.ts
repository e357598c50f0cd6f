import { Elysia } from 'elysia'
import { toDollars } from '../../gateway/billing/price.ts'
import { bodyErrors, describe } from '../../http/openapi/describe.ts'
import { eventStream } from '../../http/event-stream.ts'
import type { Guard } from '../../http/guard.ts'
import type { Log } from '../../lib/log.ts'
import { responseFrames } from './render/event-schema.ts'
import { reported } from './failed-frames.ts'
import { responsesPath } from './path.ts'
import { ResponseObject } from './render/reply-schema.ts'
import { responseRequest } from './request/schema.ts'
import type { ResponseService } from './service.ts'

const createDetail = describe({
  tag: 'Responses',
  id: 'createResponse',
  summary: 'Create a response',
  body: responseRequest,
  reply: ResponseObject,
  frames: responseFrames,
  errors: [...bodyErrors, 402, 404, 502],
})

/** In bytes. It may ask for a background run, which waits for its slot: only what is large needs one to be read. */
const maxWithoutSlot = 64 * 1024

/** `POST /v1/responses`. */
export function responseRoutes(guard: Guard, service: ResponseService, log: Log) {
  return new Elysia({ name: 'responses' }).use(guard).post(
    responsesPath,
    async ({ readBody, caller, admission, request, set }) => {
      const question = await readBody(request, responseRequest, admission, maxWithoutSlot)
      const requestId = String(set.headers['x-request-id'])
      const asker = { requestId, ...caller, admission, signal: request.signal }
      if (question.background) {
        if (!question.stream) return service.queue(question, asker)
        const source = await service.queueAndFollow(question, asker)
        return eventStream(reported({ ...source, failed: () => '' }, log, requestId))
      }
      if (question.stream) return eventStream(reported(await service.stream(question, asker), log, requestId))
      const { response, cost } = await service.complete(question, asker)
      if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
      return response
    },
    { detail: createDetail },
  )
}
