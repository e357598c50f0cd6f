import { interrupted } from '../lib/errors/errors.ts'
import { type TransientMember, TransientSet } from '../lib/transient.ts'

/** The calls in flight, for a graceful shutdown. */
export type OpenCalls = ReturnType<typeof createOpenCalls>

/** A call in flight. */
export type OpenCall = TransientMember & {
  /** The ID of the key that it needs; undefined for a background run that a provider has begun. */
  readonly waitingKey: string | undefined
  /** Ends it because its caller has left or may no longer wait. */
  cancel(reason: unknown): void
  abort(reason: unknown): void
}

/** No calls yet. */
export function createOpenCalls() {
  const open = new TransientSet<OpenCall>()
  const allEnded = Promise.withResolvers<void>()
  let rejecting = false
  let aborting = false

  const resolveIfIdle = () => void (rejecting && open.size === 0 && allEnded.resolve())

  /** Aborts the calls in flight with `interrupted`, but none that still come; returns their number. */
  function abortOpen(): number {
    const cut = open.values()
    for (const call of cut) call.abort(interrupted())
    return cut.length
  }

  return {
    add(call: OpenCall): void {
      open.add(call)
      if (aborting) call.abort(interrupted())
    },
    delete(call: OpenCall): void {
      open.delete(call)
      resolveIfIdle()
    },
    /** From now on new calls are rejected; only reserved ones run. */
    rejectNew(): void {
      rejecting = true
      resolveIfIdle()
    },
    /** Whether new calls are rejected. */
    isRejecting: () => rejecting,
    /** Resolves when new calls are rejected and none is in flight. */
    idle: () => allEnded.promise,
    /** The same as `abortOpen` for the calls in flight and all that still come. */
    abort(): number {
      aborting = true
      return abortOpen()
    },
    abortOpen,
    /** The calls in flight. */
    values: () => open.values(),
  }
}
