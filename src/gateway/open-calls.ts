import { interrupted } from '../lib/errors/errors.ts'

/** The calls that are open, for an orderly end of all of them. */
export type OpenCalls = {
  add(call: CuttableCall): void
  delete(call: CuttableCall): void
  /** From now on no calls are taken, but for those that were booked. */
  refuseNew(): void
  /** Whether none are. */
  refusing(): boolean
  /** Resolves when none is open. */
  idle(): Promise<void>
  /** Ends those that are open, and all that still come, with `interrupted`, and tells how many were open. */
  cut(): number
}

type CuttableCall = { cut(reason: unknown): void }

export function createOpenCalls(): OpenCalls {
  const open = new Set<CuttableCall>()
  const noneLeft = Promise.withResolvers<void>()
  let refusing = false
  let stopped = false

  const check = () => void (refusing && open.size === 0 && noneLeft.resolve())

  return {
    add(call) {
      open.add(call)
      if (stopped) call.cut(interrupted())
    },
    delete(call) {
      open.delete(call)
      check()
    },
    refuseNew() {
      refusing = true
      check()
    },
    refusing: () => refusing,
    idle: () => noneLeft.promise,
    cut() {
      stopped = true
      const cut = [...open]
      for (const call of cut) call.cut(interrupted())
      return cut.length
    },
  }
}
