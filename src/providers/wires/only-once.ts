import type { Warn } from './wire.ts'

/** Tells each sentence once: a long conversation may give the same reason many times. */
export function onlyOnce(warn: Warn): Warn {
  const told = new Set<string>()
  return (sentence) => {
    if (!told.has(sentence)) warn(sentence)
    told.add(sentence)
  }
}
