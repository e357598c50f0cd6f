/** Wraps a function so that it runs at the first call only; later calls return the same value. */
export function lazy<Value extends object>(create: () => Value): () => Value {
  let value: Value | undefined
  return () => (value ??= create())
}
