import { interrupted } from '../lib/errors/errors.ts'
import { TransientMap } from '../lib/transient-map.ts'

/** The calls in flight, for a graceful shutdown. */
export type OpenCalls = {
  /** Returns the number by which the call is deleted. */
  add(call: AbortableCall): number
  delete(call: number): void
  /** From now on new calls are rejected; only reserved ones run. */
  rejectNew(): void
  /** Whether new calls are rejected. */
  isRejecting(): boolean
  /** Resolves when new calls are rejected and none is in flight. */
  idle(): Promise<void>
  /**
   * Aborts the calls in flight, and all that still come, with `interrupted`; returns the number of calls that
   * were in flight.
   */
  abort(): number
  /** Aborts the calls in flight with `interrupted`, but none that still come; returns their number. */
  abortOpen(): number
}

type AbortableCall = { abort(reason: unknown): void }

export function createOpenCalls(): OpenCalls {
  const open = new TransientMap<number, AbortableCall>()
  let lastNumber = 0
  const allEnded = Promise.withResolvers<void>()
  let rejecting = false
  let aborting = false

  const resolveIfIdle = () => void (rejecting && open.size === 0 && allEnded.resolve())

  function abortOpen(): number {
    const cut = [...open.values()]
    for (const call of cut) call.abort(interrupted())
    return cut.length
  }

  return {
    add(call) {
      lastNumber++
      if (aborting) call.abort(interrupted())
      else open.set(lastNumber, call)
      return lastNumber
    },
    delete(call) {
      open.delete(call)
      resolveIfIdle()
    },
    rejectNew() {
      rejecting = true
      resolveIfIdle()
    },
    isRejecting: () => rejecting,
    idle: () => allEnded.promise,
    abort() {
      aborting = true
      return abortOpen()
    },
    abortOpen,
  }
}
