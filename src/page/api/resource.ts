import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiClient } from './client.ts'
import { type ApiFailure, isAbort, toFailure } from './failure.ts'

/** Something that is loaded: the last value stays while it is loaded again. */
export type Resource<Value> = {
  readonly value?: Value
  readonly failure?: ApiFailure
  readonly loading: boolean
  reload(): void
}

/** Loads a value, again when an input changes, and aborts the request when the component is removed. */
export function useResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Resource<Value> {
  const [state, setState] = useState<Omit<Resource<Value>, 'reload'>>({ loading: true })
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

/** Loads what the API has at a path. */
export function useGet<Value>(client: ApiClient, path: string): Resource<Value> {
  return useResource((signal) => client.get<Value>(path, { signal }), [client, path])
}

/**
 * Loads a value again and again while the tab is in sight, or once without an interval. The last value stays when an
 * attempt fails, beside the failure.
 */
export function useRefreshed<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  intervalMs?: number,
): Resource<Value> {
  const resource = useResource(load, inputs)
  const last = useRef<Value | undefined>(undefined)
  if (resource.value !== undefined) last.current = resource.value
  const { loading, reload } = resource
  useEffect(() => {
    if (loading || intervalMs === undefined) return undefined
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), intervalMs)
    return () => clearInterval(timer)
  }, [loading, reload, intervalMs])
  const value = last.current
  return { ...resource, ...(value !== undefined && { value }) }
}

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
