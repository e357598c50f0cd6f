/** The promise, or a rejection with `late()` when it takes longer: then only the waiting ends. */
export function withTimeout<Value>(
  promise: Promise<Value>,
  milliseconds: number,
  late: () => Error,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds)
    const settled = (value: Value) => {
      clearTimeout(timer)
      resolve(value)
    }
    const failed = (error: unknown) => {
      clearTimeout(timer)
      reject(error)
    }
    promise.then(settled, failed)
  })
}
