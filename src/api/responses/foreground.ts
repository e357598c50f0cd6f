import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Nanos } from '../../lib/usd.ts'
import { noWrites, type Write } from '../../storage/ports/ledger.ts'
import type { NewResponse } from '../../storage/ports/responses.ts'
import { generate } from '../generate.ts'
import { type RunEnd, type RunEvent, toRunEnd } from './events/run-event.ts'
import type { StreamEvent } from './events/state.ts'
import { LiveResponse, type LiveResponses } from './live/live-response.ts'
import { type PreparedResponse, prepareResponse, type ServiceDependencies } from './prepare-response.ts'
import { renderFrames } from './render/render-event.ts'
import { type RenderOptions, renderResponse } from './render/render-response.ts'
import type { ResponseObject } from './render/reply-schema.ts'
import type { ResponseRequest } from './request/schema.ts'
import { storedHead, storedItems } from './stored-response.ts'

/** The dependencies of foreground responses. */
export type ForegroundDependencies = ServiceDependencies & {
  readonly live: LiveResponses
  readonly options: RenderOptions
}

/** A complete response and its cost; undefined for a model without a price. */
type CompletedResponse = { readonly response: ResponseObject; readonly cost: Nanos | undefined }

/** The generation events of a response, and the frames that they are rendered to. */
type StreamedResponse = FrameSource<readonly GenerationEvent[]>

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
  const lifecycle = createResponseLifecycle(response, context.organization.id, parts.live)
  const generating = generate(prepared, metadata, context, parts.gateway, lifecycle.settle)
  const stream = await generating.catch((error: unknown) => {
    // `onSettled` is not called for a request that the gateway rejects.
    response.release()
    throw error
  })
  const { provider, warnings } = stream
  return { lifecycle, stream, opening: lifecycle.start({ type: 'answering', provider, warnings }) }
}

/** One foreground response, from the start of the provider's stream to its end. */
type ResponseLifecycle = {
  readonly live: LiveResponse
  /** Applies the events up to the start of the provider's stream. */
  start(event: RunEvent): readonly StreamEvent[]
  applyBatch(batch: readonly GenerationEvent[]): readonly StreamEvent[]
  /** Called before the end is stored; returns the writes that store it. See `GenerateRequest.onSettled`. */
  settle(error: unknown, usage: MeteredUsage): readonly Write[]
  /** Returns the events of the end, once it is stored. */
  finish(): readonly StreamEvent[]
  fail(error: unknown): readonly StreamEvent[]
}

/** The lifecycle of a prepared response; while it is in progress, other requests can stream it if it is stored. */
function createResponseLifecycle(
  prepared: PreparedResponse,
  organization: string,
  liveResponses: LiveResponses,
): ResponseLifecycle {
  const { head } = prepared
  const live = new LiveResponse(organization, head)
  let started = false
  let ending: RunEnd | undefined

  function applyEnd(end: RunEnd): readonly StreamEvent[] {
    const emitted = live.apply(end)
    liveResponses.remove(live)
    return emitted
  }

  return {
    live,
    start(event) {
      started = true
      if (head.store) liveResponses.add(live)
      const events: readonly RunEvent[] = [{ type: 'created' }, { type: 'started' }, event]
      return events.flatMap((event) => live.apply(event))
    },
    applyBatch: (batch) => batch.flatMap((event) => live.applyGenerated(event)),
    settle(error, usage) {
      prepared.release()
      // A request that no provider began to answer has no response.
      if (!started) return noWrites
      const end = toRunEnd(error, usage)
      ending = end
      // The state of this moment, whenever it is written.
      const writes = head.store ? writesOf(prepared, live, end) : noWrites
      // The client has left and receives no end.
      if (end.type === 'cancelled') applyEnd(end)
      return writes
    },
    finish: () => (ending ? applyEnd(ending) : []),
    fail: (error) => applyEnd(toRunEnd(error, ending?.usage ?? null)),
  }
}

function writesOf(prepared: PreparedResponse, live: LiveResponse, end: RunEnd): readonly Write[] {
  return [{ kind: 'insert-response', response: rowOf(prepared, live, end) }]
}

function rowOf({ head, conversation }: PreparedResponse, live: LiveResponse, end: RunEnd): NewResponse {
  return {
    id: head.id,
    organization: live.organization,
    previousId: head.previous_response_id ?? undefined,
    head: storedHead(head),
    input: storedItems(conversation.input),
    ...live.toResponseEnd(end),
  }
}
