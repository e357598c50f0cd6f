import type { RequestContext } from '../../http/request-context.ts'
import type { Page } from '../../http/paging.ts'
import type { Hold } from '../../lib/memory-budget.ts'
import { queueResponse } from './background/queue-response.ts'
import { cancelResponse } from './cancel.ts'
import { type ResponseEventStream, streamLive } from './live/replay.ts'
import {
  type Completed,
  completeResponse,
  type ForegroundParts,
  type StreamedResponse,
  streamResponse,
} from './foreground.ts'
import { listInput } from './input-list.ts'
import { openEventStream, currentState } from './find-response.ts'
import { removeResponse } from './remove.ts'
import { renderResponse } from './render/render.ts'
import type { DeletedResponse, ResponseObject } from './render/reply-schema.ts'
import type { Runs } from './background/runs.ts'
import type { ResponseRequest } from './request/schema.ts'

export type ResponseServiceParts = ForegroundParts & { readonly runs: Runs }

/**
 * Responses by any model behind the gateway. What is not the organization's is to it as if it were not there. `hold` is
 * asked for the bytes of what is stored.
 */
export type ResponseService = {
  complete(request: ResponseRequest, asker: RequestContext): Promise<Completed>
  /** Resolves when the answer has begun; its frames are still to be taken. */
  stream(request: ResponseRequest, asker: RequestContext): Promise<StreamedResponse>
  /** A background run, queued. */
  queue(request: ResponseRequest, asker: RequestContext): Promise<ResponseObject>
  /** The same, as a stream of what happens to it; the run goes on when the reader leaves. */
  queueAndFollow(request: ResponseRequest, asker: RequestContext): Promise<ResponseEventStream>
  /** As JSON. */
  find(organization: string, id: string, hold: Hold): Promise<string>
  follow(
    organization: string,
    id: string,
    after: number | undefined,
    hold: Hold,
  ): Promise<ResponseEventStream>
  /** What is left of it, as JSON. */
  cancel(organization: string, id: string, hold: Hold): Promise<string>
  remove(organization: string, id: string): Promise<DeletedResponse>
  /** A page, as JSON in parts. */
  listInput(organization: string, id: string, page: Page, hold: Hold): Promise<readonly string[]>
}

export function createResponseService(parts: ResponseServiceParts): ResponseService {
  const { options, runs } = parts
  return {
    complete: (request, asker) => completeResponse(request, asker, parts),
    stream: (request, asker) => streamResponse(request, asker, parts),
    async queue(request, asker) {
      // It is still queued: to begin, it has to be stored once more.
      return renderResponse((await queueResponse(request, asker, parts, runs)).state, options)
    },
    async queueAndFollow(request, asker) {
      return streamLive(await queueResponse(request, asker, parts, runs), { after: undefined, options })
    },
    find: async (organization, id, hold) =>
      JSON.stringify(renderResponse(await currentState(organization, id, parts, hold), options)),
    follow: (organization, id, after, hold) => openEventStream(organization, id, after, options, parts, hold),
    cancel: async (organization, id, hold) =>
      JSON.stringify(renderResponse(await cancelResponse(organization, id, runs, parts, hold), options)),
    remove: (organization, id) => removeResponse(organization, id, parts),
    listInput: (organization, id, page, hold) => listInput(organization, id, page, parts, hold),
  }
}
