import type { Warn } from './wire.ts'

/** Tells each sentence once: a long conversation may give the same reason many times. */
export function onlyOnce(warn: Warn): Warn {
  const told: string[] = []
  return (sentence) => {
    if (told.includes(sentence)) return
    told.push(sentence)
    warn(sentence)
  }
}
