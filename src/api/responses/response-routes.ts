import { Elysia } from 'elysia'
import { describe, keyedErrors } from '../../http/openapi/describe.ts'
import { eventStream } from '../../http/event-stream.ts'
import type { Guard } from '../../http/guard.ts'
import { jsonReply } from '../../http/json-reply.ts'
import { toPage } from '../../http/paging.ts'
import type { Log } from '../../lib/log.ts'
import type { MemoryLease } from '../../lib/memory-budget.ts'
import { responseFrames } from './render/event-schema.ts'
import { reported } from './failed-frames.ts'
import type { ResponseEventStream } from './live/replay.ts'
import { responsesPath } from './path.ts'
import { inputQuery, readingQuery, streamWanted } from './query.ts'
import { DeletedResponse, InputItemList, ResponseObject } from './render/reply-schema.ts'
import type { ResponseService } from './service.ts'

const path = { id: 'The id of a stored response of the organization.' }

const findDetail = describe({
  tag: 'Responses',
  id: 'getResponse',
  summary: 'Show a response, or follow its events',
  path,
  query: readingQuery.parameters,
  reply: ResponseObject,
  frames: responseFrames,
  errors: [400, 404, ...keyedErrors],
})

const cancelDetail = describe({
  tag: 'Responses',
  id: 'cancelResponse',
  summary: 'Cancel a background run',
  path,
  reply: ResponseObject,
  errors: [400, 404, ...keyedErrors],
})

const removeDetail = describe({
  tag: 'Responses',
  id: 'deleteResponse',
  summary: 'Delete a response',
  path,
  reply: DeletedResponse,
  errors: [400, 404, ...keyedErrors],
})

const inputDetail = describe({
  tag: 'Responses',
  id: 'listResponseInputItems',
  summary: 'List the input items of a response',
  path,
  query: inputQuery.parameters,
  reply: InputItemList,
  errors: [400, 404, ...keyedErrors],
})

/** What can be done with a response by its id. */
export function readingRoutes(guard: Guard, service: ResponseService, log: Log) {
  const one = `${responsesPath}/:id` as const
  return new Elysia({ name: 'stored-responses' })
    .use(guard)
    .get(
      one,
      async ({ caller, params, request, admission, set }) => {
        const { stream, starting_after } = readingQuery.read(request)
        const { id: organization } = caller.organization
        const hold = admission.memory.take
        if (!streamWanted(stream))
          return jsonReply([await service.find(organization, params.id, hold)], { request, admission })
        const source = await service.follow(organization, params.id, starting_after, hold)
        const frames = { ...releasing(source, admission.detachMemory()), failed: () => '' }
        return eventStream(reported(frames, log, String(set.headers['x-request-id'])), request)
      },
      { detail: findDetail },
    )
    .post(
      `${one}/cancel`,
      async ({ caller, params, request, admission }) => {
        const left = service.cancel(caller.organization.id, params.id, admission.memory.take)
        return jsonReply([await left], { request, admission })
      },
      { detail: cancelDetail },
    )
    .delete(one, ({ caller, params }) => service.remove(caller.organization.id, params.id), {
      detail: removeDetail,
    })
    .get(
      `${one}/input_items`,
      async ({ caller, params, request, admission }) => {
        const asked = toPage(inputQuery.read(request), 'desc')
        const page = await service.listInput(caller.organization.id, params.id, asked, admission.memory.take)
        return jsonReply(page, { request, admission })
      },
      { detail: inputDetail },
    )
}

/** The same, whose bytes are released when nobody reads it any more. */
function releasing({ items, ...source }: ResponseEventStream, memory: MemoryLease): ResponseEventStream {
  const close = () => {
    items.close()
    memory.release()
  }
  return { ...source, items: { each: (take) => items.each(take), close } }
}
