import { useState } from 'preact/hooks'
import { type ApiFailure, toFailure } from './failure.ts'

/** A change that is being sent, or has failed. */
export type Change = {
  readonly busy: boolean
  readonly failure?: ApiFailure
  /** Sends the change, unless one is being sent; the failure is shown until the next attempt. */
  run(send: () => Promise<void>): void
}

/** Keeps the state of one change at a time. */
export function useChange(): Change {
  const [state, setState] = useState<Omit<Change, 'run'>>({ busy: false })
  const run = async (send: () => Promise<void>) => {
    if (state.busy) return
    setState({ busy: true })
    try {
      await send()
      setState({ busy: false })
    } catch (error) {
      setState({ busy: false, failure: toFailure(error) })
    }
  }
  return { ...state, run: (send) => void run(send) }
}
