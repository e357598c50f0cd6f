import { gatewayStopping, interrupted } from '../lib/errors.ts'
import { onAbort, Stop } from '../lib/stop.ts'
import { reasonOf } from './ending.ts'
import type { Answering, Gateway, Question } from './gateway.ts'

/** The calls that are open, for an orderly end of all of them. */
export type OpenCalls = {
  /** Counts the call and asks it; refuses with 503 where no calls are taken any more, but for one that was booked. */
  ask(gateway: Gateway, question: Question): Promise<Answering>
  /** From now on no calls are taken. */
  refuseNew(): void
  /** Whether none are. */
  refusing(): boolean
  /** Resolves when none is open. */
  quiet(): Promise<void>
  /** Ends those that are open, and all that still come, with `interrupted`, and tells how many were open. */
  cut(): number
}

export function createOpenCalls(): OpenCalls {
  const open = new Set<Stop>()
  const stopped = new Stop()
  const noneLeft = Promise.withResolvers<void>()
  let refusing = false

  function ask(gateway: Gateway, question: Question): Promise<Answering> {
    if (refusing && !question.booked) return refuse(gateway, question)
    const { signal, ended } = question
    const stop = new Stop()
    const letGo = onAbort(signal, () => stop.abort(reasonOf(signal)))
    if (stopped.aborted) stop.abort(stopped.reason)
    open.add(stop)
    return gateway.generate({
      ...question,
      signal: stop,
      ended(error, usage) {
        letGo()
        open.delete(stop)
        check()
        return ended?.(error, usage)
      },
    })
  }

  const check = () => void (refusing && open.size === 0 && noneLeft.resolve())

  function refuseNew(): void {
    refusing = true
    check()
  }

  function cut(): number {
    const cut = [...open]
    stopped.abort(interrupted())
    for (const stop of cut) stop.abort(stopped.reason)
    return cut.length
  }

  return { ask, refuseNew, refusing: () => refusing, quiet: () => noneLeft.promise, cut }
}

/** The gateway, with its calls among those that are open. */
export function countingCalls(gateway: Gateway, calls: OpenCalls): Gateway {
  return {
    ...gateway,
    generate: (question) => calls.ask(gateway, question),
    book: (booking, write) => (calls.refusing() ? refuse(gateway, booking) : gateway.book(booking, write)),
  }
}

async function refuse(gateway: Gateway, { facts }: Pick<Question, 'facts'>): Promise<never> {
  const error = gatewayStopping()
  await gateway.turnedAway(facts, error)
  throw error
}
