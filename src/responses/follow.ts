import type { FrameSource } from '../http/event-stream.ts'
import type { Source } from '../lib/source.ts'
import type { ResponseHead } from './request/head.ts'
import { Happenings, mostAtOnce } from './happenings.ts'
import { framesOf } from './render/frames.ts'
import type { LiveResponse } from './live-response.ts'
import type { RenderOptions } from './render/render.ts'
import type { RunEvent } from './reduce/run-event.ts'
import { initialState } from './reduce/state.ts'
import { step } from './reduce/step.ts'

export type FollowedResponse = Omit<FrameSource<readonly RunEvent[]>, 'failed'>

/** What a reader gets who follows: events with numbers above `after`, all of them where it is undefined. */
export type Following = { readonly after: number | undefined; readonly options: RenderOptions }

/** Everything that has happened to a response that is being made, and what still will, at the pace of the reader. */
export function follow(live: LiveResponse, following: Following): FollowedResponse {
  return told(live.head, new Happenings(live), following)
}

/** Everything that has happened to a response that is over. */
export function retell(
  head: ResponseHead,
  events: readonly RunEvent[],
  following: Following,
): FollowedResponse {
  return told(head, inPieces(events), following)
}

/** A reader has a state of its own: what it is told depends on nothing but what happened. */
function told(
  head: ResponseHead,
  items: Source<readonly RunEvent[]>,
  { after = -1, options }: Following,
): FollowedResponse {
  let state = initialState(head)
  return {
    items,
    frames(batch) {
      let text = ''
      for (const event of batch) {
        const [next, events] = step(state, event)
        state = next
        text += framesOf(
          events.filter((told) => told.sequence_number > after),
          options,
        )
      }
      return text
    },
    end: () => '',
  }
}

function inPieces(events: readonly RunEvent[]): Source<readonly RunEvent[]> {
  return {
    async each(take) {
      for (let from = 0; from < events.length; from += mostAtOnce)
        await take(events.slice(from, from + mostAtOnce))
    },
    close() {},
  }
}
