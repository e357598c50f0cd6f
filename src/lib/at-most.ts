/** Waits for the promise, but no longer than so many milliseconds: then it goes on alone. */
export async function settleWithin(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}
