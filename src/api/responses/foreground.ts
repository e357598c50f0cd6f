import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { GenerationStream } from '../../gateway/gateway.ts'
import type { Nanos } from '../../gateway/billing/price.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import { prepareResponse, type ServiceParts } from './prepare-response.ts'
import {
  type ResponseLifecycle,
  type ResponseLifecycleParts,
  createResponseLifecycle,
} from './response-lifecycle.ts'
import { framesOf } from './render/frames.ts'
import type { ResponseObject } from './render/reply-schema.ts'
import { renderResponse, type RenderOptions } from './render/render.ts'
import type { ResponseRequest } from './request/schema.ts'
import type { StreamEvent } from './events/stream-event.ts'

export type ForegroundParts = ServiceParts & ResponseLifecycleParts & { readonly options: RenderOptions }

export type Completed = { readonly response: ResponseObject; readonly cost: Nanos | undefined }

export type StreamedResponse = FrameSource<readonly GenerationEvent[]>

/** The whole response to a request that waits for it, and its price where the model has one. */
export async function completeResponse(
  request: ResponseRequest,
  asker: RequestContext,
  parts: ForegroundParts,
): Promise<Completed> {
  const { course, answering } = await begin(request, asker, parts)
  try {
    await answering.each((batch) => void course.take(batch))
    course.end()
  } catch (error) {
    course.fail(error)
    throw error
  }
  return { response: renderResponse(course.live.state, parts.options), cost: answering.cost() }
}

/** The stream events of a response, which are still to be taken; resolves when its answer has begun. */
export async function streamResponse(
  request: ResponseRequest,
  asker: RequestContext,
  parts: ForegroundParts,
): Promise<StreamedResponse> {
  const { course, answering, opening } = await begin(request, asker, parts)
  const frames = (events: readonly StreamEvent[]) => framesOf(events, parts.options)
  return {
    items: answering,
    begin: () => frames(opening),
    frames: (batch) => frames(course.take(batch)),
    end: () => frames(course.end()),
    failed: (error) => frames(course.fail(error)),
  }
}

type Begun = {
  readonly course: ResponseLifecycle
  readonly answering: GenerationStream
  /** What tells that it has begun. */
  readonly opening: readonly StreamEvent[]
}

async function begin(
  request: ResponseRequest,
  asker: RequestContext,
  parts: ForegroundParts,
): Promise<Begun> {
  const question = await prepareResponse(request, asker, parts)
  const { prepared, facts } = question
  const { organization, admission, signal } = asker
  const course = createResponseLifecycle(question, organization.id, parts)
  const generating = parts.gateway.generate({
    facts,
    billing: organization.billing,
    admission,
    model: prepared.model,
    generation: prepared.generation,
    stream: request.stream === true,
    signal,
    onSettled: course.ended,
  })
  const answering = await generating.catch((error: unknown) => {
    // A question that is refused may have no end.
    question.release()
    throw error
  })
  const { provider, warnings } = answering
  return { course, answering, opening: course.begin({ type: 'answering', provider, warnings }) }
}
