/** The promise, or a rejection with the signal's reason once it fires: then only the waiting ends. */
export async function withAbort<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: left, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([promise, left])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
