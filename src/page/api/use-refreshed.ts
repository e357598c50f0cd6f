import { useEffect, useRef } from 'preact/hooks'
import { type Resource, useResource } from './use-resource.ts'

/**
 * Loads a value again and again while the tab is in sight. The last value stays when an attempt fails, beside the failure.
 */
export function useRefreshed<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  intervalMs: number,
): Resource<Value> {
  const resource = useResource(load, inputs)
  const last = useRef<Value | undefined>(undefined)
  if (resource.value !== undefined) last.current = resource.value
  const { loading, reload } = resource
  useEffect(() => {
    if (loading) return undefined
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), intervalMs)
    return () => clearInterval(timer)
  }, [loading, reload, intervalMs])
  const value = last.current
  return { ...resource, ...(value !== undefined && { value }) }
}
