/** The promise, or a rejection with `late()` when it takes longer: then only the waiting ends. */
export function within<Value>(
  promise: Promise<Value>,
  milliseconds: number,
  late: () => Error,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds)
    const settled = () => clearTimeout(timer)
    promise.then(resolve, reject).finally(settled)
  })
}
