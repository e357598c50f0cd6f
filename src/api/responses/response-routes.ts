import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { eventStream } from '../../http/event-stream.ts'
import type { Guard } from '../../http/guard.ts'
import { jsonReply } from '../../http/reply.ts'
import { describe, guardErrors } from '../../http/describe.ts'
import { pageParameters, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import type { Admission } from '../../gateway/rate-limits/admission.ts'
import type { Log } from '../../lib/log.ts'
import type { MemoryLease } from '../../lib/memory-budget.ts'
import { cancelResponse } from './background/cancel-run.ts'
import type { ResponseState } from './events/state.ts'
import { findState, openEventStream } from './find-response.ts'
import type { ResponseEventStream } from './live/replay.ts'
import { responseFrames } from './render/event-schema.ts'
import { renderResponse } from './render/render-response.ts'
import { DeletedResponse, InputItemList, ResponseList, ResponseObject } from './render/reply-schema.ts'
import { logFailure, responsesPath } from './routes.ts'
import { listInputItems, listParameters, listResponses, readListRequest } from './lists.ts'
import { removeResponse, type ResponseDependencies } from './service.ts'

const pathParameters = { id: 'The ID of a stored response, such as `resp_…`.' }

/** The query parameters for the retrieval of a response. */
const retrieveQuery = defineQuery({
  stream: Type.Optional(
    Type.String({
      description: 'With `true` or `1`, streams the events of the response instead of returning it.',
    }),
  ),
  starting_after: Type.Optional(
    Type.Integer({ description: 'With `stream`, sends only the events after this sequence number.' }),
  ),
})

/** The query parameters for the list of input items. */
const inputItemsQuery = defineQuery(pageParameters('input item', 'desc'))

const listDetail = describe({
  tag: 'Responses',
  id: 'listResponses',
  summary: 'List stored responses',
  description:
    'Lists the stored responses of the organization, and its background runs. The filters are combined.',
  query: listParameters,
  reply: ResponseList,
  errors: [400, ...guardErrors],
})

const retrieveDetail = describe({
  tag: 'Responses',
  id: 'getResponse',
  summary: 'Get a response, or stream its events',
  description:
    'Returns a stored response or a background run. With `stream`, sends its events from the beginning, and continues until it has finished.',
  path: pathParameters,
  query: retrieveQuery.parameters,
  reply: ResponseObject,
  frames: responseFrames,
  errors: [400, 404, ...guardErrors],
})

const cancelDetail = describe({
  tag: 'Responses',
  id: 'cancelResponse',
  summary: 'Cancel a background run',
  description:
    'Cancels a background run that is queued or in progress, and returns its response with the status `incomplete`.',
  path: pathParameters,
  reply: ResponseObject,
  errors: [400, 404, ...guardErrors],
})

const removeDetail = describe({
  tag: 'Responses',
  id: 'deleteResponse',
  summary: 'Delete a response',
  description:
    'Deletes a stored response. Responses that continue it are kept. A background run must be cancelled first.',
  path: pathParameters,
  reply: DeletedResponse,
  errors: [400, 404, ...guardErrors],
})

const inputItemsDetail = describe({
  tag: 'Responses',
  id: 'listResponseInputItems',
  summary: 'List the input items of a response',
  description: 'Lists the input items of the request that created a stored response.',
  path: pathParameters,
  query: inputItemsQuery.parameters,
  reply: InputItemList,
  errors: [400, 404, ...guardErrors],
})

const responsePath = `${responsesPath}/:id` as const

/** The list of responses, and that of the input items of one. */
export function responseListRoutes(guard: Guard, dependencies: ResponseDependencies) {
  return new Elysia({ name: 'response-lists' })
    .use(guard)
    .get(
      responsesPath,
      async ({ caller: { organization }, request, admission }) => {
        const { acquire } = admission.memory
        const list = await listResponses(organization.id, readListRequest(request), dependencies, acquire)
        return jsonReply(list, { request, admission })
      },
      { detail: listDetail },
    )
    .get(
      `${responsePath}/input_items`,
      async ({ caller, params, request, admission }) => {
        const page = toPage(inputItemsQuery.read(request), 'desc')
        const { acquire } = admission.memory
        const items = await listInputItems(caller.organization.id, params.id, page, dependencies, acquire)
        return jsonReply(items, { request, admission })
      },
      { detail: inputItemsDetail },
    )
}

/** The routes of a response by its id: retrieve, stream, cancel and delete. */
export function storedResponseRoutes(guard: Guard, dependencies: ResponseDependencies, log: Log) {
  const { options, runs } = dependencies
  const sendState = (state: ResponseState, request: Request, admission: Admission) =>
    jsonReply([JSON.stringify(renderResponse(state, options))], { request, admission })
  return new Elysia({ name: 'stored-responses' })
    .use(guard)
    .get(
      responsePath,
      async ({ watchKey, caller: { organization, keyId }, params: { id }, request, admission, set }) => {
        const { stream, starting_after } = retrieveQuery.read(request)
        const { acquire } = admission.memory
        if (!isStreamRequested(stream))
          return sendState(await findState(organization.id, id, dependencies, acquire), request, admission)
        const replay = { after: starting_after, render: options }
        const source = await openEventStream(organization.id, id, replay, dependencies, acquire)
        const released = releasingOnClose(source, admission.detachMemory())
        const frames = logFailure(released, log, String(set.headers['x-request-id']))
        return eventStream(frames, { method: request.method, watch: watchKey(keyId) })
      },
      { detail: retrieveDetail },
    )
    .post(
      `${responsePath}/cancel`,
      async ({ caller, params, request, admission }) => {
        const { acquire } = admission.memory
        const state = await cancelResponse(caller.organization.id, params.id, runs, dependencies, acquire)
        return sendState(state, request, admission)
      },
      { detail: cancelDetail },
    )
    .delete(
      responsePath,
      ({ caller, params }) => removeResponse(caller.organization.id, params.id, dependencies),
      { detail: removeDetail },
    )
}

/** Releases the memory of the stored response when the stream closes. */
function releasingOnClose(
  { items, ...source }: ResponseEventStream,
  memory: MemoryLease,
): ResponseEventStream {
  const close = () => {
    items.close()
    memory.release()
  }
  return { ...source, items: { forEach: (onItem) => items.forEach(onItem), close } }
}

/** Clients also send `stream=false`. */
function isStreamRequested(stream: string | undefined): boolean {
  return stream === 'true' || stream === '1'
}
