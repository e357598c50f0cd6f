import { interrupted } from '../lib/errors/errors.ts'

/** The calls that are open, for an orderly end of all of them. */
export type OpenCalls = {
  add(call: AbortableCall): void
  delete(call: AbortableCall): void
  /** From now on no calls are taken, but for those that were booked. */
  refuseNew(): void
  /** Whether none are. */
  refusing(): boolean
  /** Resolves when none is open. */
  idle(): Promise<void>
  /** Ends those that are open, and all that still come, with `interrupted`, and tells how many were open. */
  cut(): number
}

type AbortableCall = { abort(reason: unknown): void }

export function createOpenCalls(): OpenCalls {
  const open = new Set<AbortableCall>()
  const allEnded = Promise.withResolvers<void>()
  let rejecting = false
  let aborting = false

  const resolveIfIdle = () => void (rejecting && open.size === 0 && allEnded.resolve())

  return {
    add(call) {
      open.add(call)
      if (aborting) call.abort(interrupted())
    },
    delete(call) {
      open.delete(call)
      resolveIfIdle()
    },
    refuseNew() {
      rejecting = true
      resolveIfIdle()
    },
    refusing: () => rejecting,
    idle: () => allEnded.promise,
    cut() {
      aborting = true
      const cut = [...open]
      for (const call of cut) call.abort(interrupted())
      return cut.length
    },
  }
}
