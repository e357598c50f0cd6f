import { Elysia } from 'elysia'
import { describe, keyedErrors } from '../http/describe.ts'
import { eventStream } from '../http/event-stream.ts'
import type { Guard } from '../http/guard.ts'
import { toPage } from '../http/paging.ts'
import type { Log } from '../lib/log.ts'
import { responseFrames } from './render/event-schema.ts'
import { reported } from './failed-frames.ts'
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
      async ({ caller, params, request, set }) => {
        const { stream, starting_after } = readingQuery.read(request)
        const { id: organization } = caller.organization
        if (!streamWanted(stream)) return service.find(organization, params.id)
        const source = await service.follow(organization, params.id, starting_after)
        return eventStream(
          reported({ ...source, failed: () => '' }, log, String(set.headers['x-request-id'])),
        )
      },
      { detail: findDetail },
    )
    .post(`${one}/cancel`, ({ caller, params }) => service.cancel(caller.organization.id, params.id), {
      detail: cancelDetail,
    })
    .delete(
      one,
      async ({ caller, params: { id } }) => {
        await service.remove(caller.organization.id, id)
        return { id, object: 'response.deleted', deleted: true }
      },
      { detail: removeDetail },
    )
    .get(
      `${one}/input_items`,
      ({ caller, params, request }) =>
        service.listInput(caller.organization.id, params.id, toPage(inputQuery.read(request), 'desc')),
      { detail: inputDetail },
    )
}
