import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import type { NewResponse } from '../../storage/ports/responses.ts'
import { noWrites, type Write } from '../../storage/ports/writes.ts'
import { endOf, type RunEnd, type RunEvent, toRunEvent } from './events/run-event.ts'
import type { StreamEvent } from './events/stream-event.ts'
import { LiveResponse } from './live/live-response.ts'
import type { LiveResponses } from './live/live-responses.ts'
import type { PreparedResponse } from './prepare-response.ts'
import { storedHead, storedItems } from './stored-response.ts'

/** The course of one response from the first word of its provider to its end. */
export type ResponseLifecycle = {
  readonly live: LiveResponse
  begin(answering: RunEvent): readonly StreamEvent[]
  take(batch: readonly GenerationEvent[]): readonly StreamEvent[]
  /** Called before the end is stored; returns the writes that store it. See `GenerateRequest.onSettled`. */
  ended(error: unknown, usage: MeteredUsage): readonly Write[]
  /** What tells the end, once it is stored. */
  end(): readonly StreamEvent[]
  fail(error: unknown): readonly StreamEvent[]
}

export type ResponseLifecycleParts = {
  readonly live: LiveResponses
}

/** The course of the response to this question, which somebody waits for; others may follow it if it is stored. */
export function createResponseLifecycle(
  question: PreparedResponse,
  organization: string,
  parts: ResponseLifecycleParts,
): ResponseLifecycle {
  const { head } = question
  const live = new LiveResponse(organization, head)
  let begun = false
  let ending: RunEnd | undefined

  function over(end: RunEnd): readonly StreamEvent[] {
    const told = live.apply(end)
    parts.live.remove(live)
    return told
  }

  return {
    live,
    begin(answering) {
      begun = true
      if (head.store) parts.live.add(live)
      const events: readonly RunEvent[] = [{ type: 'created' }, { type: 'started' }, answering]
      return events.flatMap((event) => live.apply(event))
    },
    take: (batch) => batch.flatMap((event) => toldOf(live, event)),
    ended(error, usage) {
      question.release()
      // A question to which nobody began an answer has no response.
      if (!begun) return noWrites
      const end = endOf(error, usage)
      ending = end
      // As it is now, whenever it is written.
      const writes = head.store ? writesOf(question, live, end) : noWrites
      // Whoever asked has left, and takes the end no more.
      if (end.type === 'cancelled') over(end)
      return writes
    },
    end: () => (ending ? over(ending) : []),
    fail: (error) => over(endOf(error, ending?.usage ?? null)),
  }
}

function toldOf(live: LiveResponse, event: GenerationEvent): readonly StreamEvent[] {
  const happened = toRunEvent(event)
  return happened ? live.apply(happened) : []
}

function writesOf(question: PreparedResponse, live: LiveResponse, end: RunEnd): readonly Write[] {
  return [{ kind: 'insert-response', response: rowOf(question, live, end) }]
}

function rowOf({ head, conversation }: PreparedResponse, live: LiveResponse, end: RunEnd): NewResponse {
  return {
    id: head.id,
    organization: live.organization,
    previousId: head.previous_response_id ?? undefined,
    head: storedHead(head),
    input: storedItems(conversation.input),
    ...live.endedBy(end),
  }
}
