import { useCallback, useEffect, useState } from 'preact/hooks'
import { type ApiFailure, isAbort, toFailure } from './failure.ts'

/** Something that is loaded: the last value stays while it is loaded again. */
export type Resource<Value> = {
  readonly value?: Value
  readonly failure?: ApiFailure
  readonly loading: boolean
  reload(): void
}

type State<Value> = Omit<Resource<Value>, 'reload'>

/** Loads a value, again when an input changes, and aborts the request when the component is removed. */
export function useResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Resource<Value> {
  const [state, setState] = useState<State<Value>>({ loading: true })
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setState(({ value }) => ({ loading: true, ...(value !== undefined && { value }) }))
    load(controller.signal).then(
      (value) => !controller.signal.aborted && setState({ value, loading: false }),
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return
        setState({ failure: toFailure(error), loading: false })
      },
    )
    return () => controller.abort()
  }, [...inputs, attempt])
  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  return { ...state, reload }
}
