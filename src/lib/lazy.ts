/** The function, which runs at the first call only; later ones get the same value. */
export function lazy<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
