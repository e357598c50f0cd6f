import { type Dispatch, type StateUpdater, useLayoutEffect, useState } from 'preact/hooks'
import { useSession } from './session.tsx'

/** State that outlives its view: it is kept in the memory of the tab under a name, until the keys of the tab change. */
export function useKept<Value>(name: string, initial: Value): [Value, Dispatch<StateUpdater<Value>>] {
  const { kept } = useSession()
  const [value, setValue] = useState(() => (kept.has(name) ? (kept.get(name) as Value) : initial))
  // Not a usual effect: the view may be left before one runs.
  useLayoutEffect(() => void kept.set(name, value), [kept, name, value])
  return [value, setValue]
}
