import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import type { NewResponse } from '../../storage/ports/responses.ts'
import { toRunEnd, type RunEnd, type RunEvent } from './events/run-event.ts'
import { noWrites, type Write } from '../../storage/ports/ledger.ts'
import type { StreamEvent } from './events/state.ts'
import { LiveResponse } from './live/live-response.ts'
import type { LiveResponses } from './live/live-responses.ts'
import type { PreparedResponse } from './prepare-response.ts'
import { storedHead, storedItems } from './stored-response.ts'

/** One foreground response, from the start of the provider's stream to its end. */
export type ResponseLifecycle = {
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

/** What a lifecycle depends on. */
export type ResponseLifecycleDependencies = {
  readonly live: LiveResponses
}

/** The lifecycle of a prepared response; while it is in progress, other requests can stream it if it is stored. */
export function createResponseLifecycle(
  prepared: PreparedResponse,
  organization: string,
  parts: ResponseLifecycleDependencies,
): ResponseLifecycle {
  const { head } = prepared
  const live = new LiveResponse(organization, head)
  let started = false
  let ending: RunEnd | undefined

  function applyEnd(end: RunEnd): readonly StreamEvent[] {
    const emitted = live.apply(end)
    parts.live.remove(live)
    return emitted
  }

  return {
    live,
    start(event) {
      started = true
      if (head.store) parts.live.add(live)
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
