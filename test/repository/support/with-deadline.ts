/** Resolves to the value, or to undefined if it takes longer than this many milliseconds. */
export async function withDeadline<Value>(
  value: Promise<Value>,
  deadlineMs: number,
): Promise<Value | undefined> {
  const { promise: expired, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, deadlineMs)
  try {
    return await Promise.race([value, expired])
  } finally {
    clearTimeout(timer)
  }
}
