import { interrupted } from '../lib/errors/errors.ts'
import { type TransientMember, TransientSet } from '../lib/transient.ts'

/** The calls in flight, for a graceful shutdown. */
export type OpenCalls = {
  add(call: OpenCall): void
  delete(call: OpenCall): void
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
  /** The calls in flight. */
  values(): readonly OpenCall[]
}

/** A call in flight. */
export type OpenCall = TransientMember & {
  /** The ID of the key that it needs; undefined for a background run that a provider has begun. */
  readonly waitingKey: string | undefined
  /** Ends it because its caller has left or may no longer wait. */
  cancel(reason: unknown): void
  abort(reason: unknown): void
}

export function createOpenCalls(): OpenCalls {
  const open = new TransientSet<OpenCall>()
  const allEnded = Promise.withResolvers<void>()
  let rejecting = false
  let aborting = false

  const resolveIfIdle = () => void (rejecting && open.size === 0 && allEnded.resolve())

  function abortOpen(): number {
    const cut = open.values()
    for (const call of cut) call.abort(interrupted())
    return cut.length
  }

  return {
    add(call) {
      open.add(call)
      if (aborting) call.abort(interrupted())
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
    values: () => open.values(),
  }
}
