/** Milliseconds: ids of 2020 have the smallest sequences, so that those of the next decades stay exact. */
const epoch = Date.UTC(2020)

/** The ids that one millisecond has. */
const perMillisecond = 4096

const form = /^chatcmpl-([0-9a-f]{12})7([0-9a-f]{3})[0-9a-f]{16}$/

/**
 * The place of a completion in the order of creation, as its id says it: the time and the count within the
 * millisecond. Undefined for what is no id of a completion.
 */
export function sequenceOf(id: string): number | undefined {
  const [, milliseconds, count] = form.exec(id) ?? []
  if (milliseconds === undefined || count === undefined) return undefined
  return sequenceAt(Number.parseInt(milliseconds, 16)) + Number.parseInt(count, 16)
}

/** The first place that an id of this moment can have. */
export function sequenceAt(milliseconds: number): number {
  return (milliseconds - epoch) * perMillisecond
}
