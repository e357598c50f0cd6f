/** Resolves in a later turn of the event loop, when what else is due has had its time. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
