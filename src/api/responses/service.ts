import { estimatePromptTokens } from '../../gateway/billing/estimate.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { queueResponse } from './background/queue-response.ts'
import type { Runs } from './background/runs.ts'
import { responseNotFound, type ResponseStores } from './find-response.ts'
import type { ForegroundDependencies } from './foreground.ts'
import { type FollowedResponses, streamFollowed } from './live/followed-responses.ts'
import type { ResponseEventStream } from './live/replay.ts'
import { prepareResponse } from './prepare-response.ts'
import { renderResponse } from './render/render-response.ts'
import type { DeletedResponse, InputTokens, ResponseObject } from './render/reply-schema.ts'
import type { ResponseRequest } from './request/schema.ts'

/** The dependencies of the Responses API. */
export type ResponseDependencies = ForegroundDependencies & {
  readonly runs: Runs
  readonly followed: FollowedResponses
}

/** Queues a background run and returns its response. */
export async function queueRun(
  request: ResponseRequest,
  context: RequestContext,
  parts: ResponseDependencies,
): Promise<ResponseObject> {
  // The state is still `queued`: a run writes to the database before it starts.
  return renderResponse((await queueResponse(request, context, parts, parts.runs)).state, parts.options)
}

/** Queues a background run and streams its events; the run continues when the client disconnects. */
export async function queueAndStream(
  request: ResponseRequest,
  context: RequestContext,
  parts: ResponseDependencies,
): Promise<ResponseEventStream> {
  const live = await queueResponse(request, context, parts, parts.runs)
  return streamFollowed(live, 0, parts.followed, { after: undefined, render: parts.options })
}

/** Estimates the tokens of the input of a request, with the conversation that it continues, without generating. */
export async function countInputTokens(
  request: ResponseRequest,
  context: RequestContext,
  parts: ResponseDependencies,
): Promise<InputTokens> {
  const { prepared, release } = await prepareResponse(request, context, parts)
  release()
  return { object: 'response.input_tokens', input_tokens: estimatePromptTokens(prepared.generation) }
}

/** Deletes a finished response. Throws 404 if there is none, and 400 while it is in progress. */
export async function removeResponse(
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
