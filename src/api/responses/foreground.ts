import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Nanos } from '../../lib/usd.ts'
import { generate } from '../generate.ts'
import type { StreamEvent } from './events/state.ts'
import { prepareResponse, type ServiceDependencies } from './prepare-response.ts'
import { renderFrames } from './render/render-event.ts'
import { type RenderOptions, renderResponse } from './render/render-response.ts'
import type { ResponseObject } from './render/reply-schema.ts'
import type { ResponseRequest } from './request/schema.ts'
import {
  createResponseLifecycle,
  type ResponseLifecycle,
  type ResponseLifecycleDependencies,
} from './response-lifecycle.ts'

/** What foreground responses depend on. */
export type ForegroundDependencies = ServiceDependencies &
  ResponseLifecycleDependencies & { readonly options: RenderOptions }

/** A complete response and its cost; undefined for a model without a price. */
export type CompletedResponse = { readonly response: ResponseObject; readonly cost: Nanos | undefined }

/** The generation events of a response, and the frames that they are rendered to. */
export type StreamedResponse = FrameSource<readonly GenerationEvent[]>

/** Generates a response and returns it when it is complete. */
export async function completeResponse(
  request: ResponseRequest,
  context: RequestContext,
  parts: ForegroundDependencies,
): Promise<CompletedResponse> {
  const { lifecycle, stream } = await start(request, context, parts)
  try {
    await stream.forEach((batch) => void lifecycle.applyBatch(batch))
    lifecycle.finish()
  } catch (error) {
    lifecycle.fail(error)
    throw error
  }
  return { response: renderResponse(lifecycle.live.state, parts.options), cost: stream.cost() }
}

/** Generates a response as a stream; resolves when the provider has started to stream. */
export async function streamResponse(
  request: ResponseRequest,
  context: RequestContext,
  parts: ForegroundDependencies,
): Promise<StreamedResponse> {
  const { lifecycle, stream, opening } = await start(request, context, parts)
  const render = (events: readonly StreamEvent[]) => renderFrames(events, parts.options)
  return {
    items: stream,
    begin: () => render(opening),
    frames: (batch) => render(lifecycle.applyBatch(batch)),
    end: () => render(lifecycle.finish()),
    failed: (error) => render(lifecycle.fail(error)),
  }
}

type StartedResponse = {
  readonly lifecycle: ResponseLifecycle
  readonly stream: GenerationStream
  /** The stream events up to the start of the provider's stream. */
  readonly opening: readonly StreamEvent[]
}

async function start(
  request: ResponseRequest,
  context: RequestContext,
  parts: ForegroundDependencies,
): Promise<StartedResponse> {
  const response = await prepareResponse(request, context, parts)
  const { prepared, metadata } = response
  const lifecycle = createResponseLifecycle(response, context.organization.id, parts)
  const generating = generate(prepared, metadata, context, parts.gateway, lifecycle.settle)
  const stream = await generating.catch((error: unknown) => {
    // `onSettled` is not called for a request that the gateway rejects.
    response.release()
    throw error
  })
  const { provider, warnings } = stream
  return { lifecycle, stream, opening: lifecycle.start({ type: 'answering', provider, warnings }) }
}
