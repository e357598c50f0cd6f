/** Milliseconds since 1970: sequences count from 2020, so that they stay safe integers for decades. */
const epoch = Date.UTC(2020)

const idsPerMillisecond = 4096

const idPattern = /^chatcmpl-([0-9a-f]{12})7([0-9a-f]{3})[0-9a-f]{16}$/

/**
 * The position of a completion in the order of creation, from the time and the counter in its id. Undefined if the text
 * is not the id of a completion.
 */
export function sequenceOf(id: string): number | undefined {
  const [, milliseconds, counter] = idPattern.exec(id) ?? []
  if (milliseconds === undefined || counter === undefined) return undefined
  return sequenceAt(Number.parseInt(milliseconds, 16)) + Number.parseInt(counter, 16)
}

/** The lowest sequence that an id of this moment can have; milliseconds since 1970. */
export function sequenceAt(milliseconds: number): number {
  return (milliseconds - epoch) * idsPerMillisecond
}
