/** A controller of our own that a signal fires too, with this reason, until it is let go. */
export function linkedAbort(signal: AbortSignal, reasonOf: () => unknown): LinkedAbort {
  const controller = new AbortController()
  const fire = () => controller.abort(reasonOf())
  if (signal.aborted) fire()
  else signal.addEventListener('abort', fire, { once: true })
  return { controller, letGo: () => signal.removeEventListener('abort', fire) }
}

export type LinkedAbort = { readonly controller: AbortController; readonly letGo: () => void }
