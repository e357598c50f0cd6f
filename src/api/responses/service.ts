import { estimatePromptTokens } from '../../gateway/billing/estimate.ts'
import type { Page } from '../../http/paging.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import { cancelResponse } from './background/cancel-run.ts'
import { queueResponse } from './background/queue-response.ts'
import type { Runs } from './background/runs.ts'
import { findState, openEventStream, responseNotFound, type ResponseStores } from './find-response.ts'
import {
  type CompletedResponse,
  completeResponse,
  type ForegroundDependencies,
  type StreamedResponse,
  streamResponse,
} from './foreground.ts'
import { listInputItems, type ListRequest, listResponses } from './lists.ts'
import { type FollowedResponses, streamFollowed } from './live/followed-responses.ts'
import type { ResponseEventStream } from './live/replay.ts'
import { prepareResponse } from './prepare-response.ts'
import { renderResponse } from './render/render-response.ts'
import type { DeletedResponse, InputTokens, ResponseObject } from './render/reply-schema.ts'
import type { ResponseRequest } from './request/schema.ts'

/** What the service depends on. */
export type ResponseServiceDependencies = ForegroundDependencies & {
  readonly runs: Runs
  readonly followed: FollowedResponses
}

/**
 * The operations of the Responses API. A response of another organization is not found. `acquireMemory` is called with the bytes
 * of stored data before it is read, and throws where the memory budget does not allow them.
 */
export type ResponseService = {
  complete(request: ResponseRequest, context: RequestContext): Promise<CompletedResponse>
  /** Resolves when the provider has started to stream; the caller then reads the frames. */
  stream(request: ResponseRequest, context: RequestContext): Promise<StreamedResponse>
  /** Queues a background run and returns its response. */
  queue(request: ResponseRequest, context: RequestContext): Promise<ResponseObject>
  /** Queues a background run and streams its events; the run continues when the client disconnects. */
  queueAndStream(request: ResponseRequest, context: RequestContext): Promise<ResponseEventStream>
  /** Estimates the tokens of the input of a request, with the conversation that it continues, without generating. */
  countInputTokens(request: ResponseRequest, context: RequestContext): Promise<InputTokens>
  /** Returns the response as JSON. */
  find(organization: string, id: string, acquireMemory: AcquireMemory): Promise<string>
  /** Streams the events after this sequence number, or all events where `after` is undefined. */
  streamStored(
    organization: string,
    id: string,
    after: number | undefined,
    acquireMemory: AcquireMemory,
  ): Promise<ResponseEventStream>
  /** Cancels a background run and returns its response as JSON. */
  cancel(organization: string, id: string, acquireMemory: AcquireMemory): Promise<string>
  remove(organization: string, id: string): Promise<DeletedResponse>
  /** Returns a page of the stored responses as JSON in parts. */
  list(organization: string, request: ListRequest, acquireMemory: AcquireMemory): Promise<readonly string[]>
  /** Returns a page of the input items as JSON in parts. */
  listInputItems(
    organization: string,
    id: string,
    page: Page,
    acquireMemory: AcquireMemory,
  ): Promise<readonly string[]>
}

/** The service for these gateway settings. */
export function createResponseService(parts: ResponseServiceDependencies): ResponseService {
  const { options, runs } = parts
  return {
    complete: (request, context) => completeResponse(request, context, parts),
    stream: (request, context) => streamResponse(request, context, parts),
    async queue(request, context) {
      // The state is still `queued`: a run writes to the database before it starts.
      return renderResponse((await queueResponse(request, context, parts, runs)).state, options)
    },
    async queueAndStream(request, context) {
      const live = await queueResponse(request, context, parts, runs)
      return streamFollowed(live, 0, parts.followed, { after: undefined, render: options })
    },
    async countInputTokens(request, context) {
      const { prepared, release } = await prepareResponse(request, context, parts)
      release()
      return { object: 'response.input_tokens', input_tokens: estimatePromptTokens(prepared.generation) }
    },
    find: async (organization, id, acquireMemory) =>
      JSON.stringify(renderResponse(await findState(organization, id, parts, acquireMemory), options)),
    streamStored: (organization, id, after, acquireMemory) =>
      openEventStream(organization, id, { after, render: options }, parts, acquireMemory),
    cancel: async (organization, id, acquireMemory) =>
      JSON.stringify(
        renderResponse(await cancelResponse(organization, id, runs, parts, acquireMemory), options),
      ),
    remove: (organization, id) => removeResponse(organization, id, parts),
    list: (organization, request, acquireMemory) =>
      listResponses(organization, request, parts, acquireMemory),
    listInputItems: (organization, id, page, acquireMemory) =>
      listInputItems(organization, id, page, parts, acquireMemory),
  }
}

/** Deletes a finished response. Throws 404 if there is none, and 400 while it is in progress. */
async function removeResponse(
  organization: string,
  id: string,
  stores: ResponseStores,
): Promise<DeletedResponse> {
  const live = stores.live.find(organization, id)
  if (live && !live.ending) throw inFlight()
  const removal = await stores.responses.remove(organization, id)
  // Its end is not stored yet.
  if (removal === 'missing' && live) throw inFlight()
  if (removal === 'missing') throw responseNotFound(id)
  if (removal === 'running') throw inFlight()
  return { id, object: 'response.deleted', deleted: true }
}

/** 400 and not 409, which client libraries retry. */
function inFlight(): Error {
  return badRequest(
    'Cannot delete a response that is in progress. Cancel it first, or wait until it has finished.',
    null,
    null,
  )
}
