/** Numbers from 0 to 1 that are the same for the same seed. */
export function randomFrom(seed: string): () => number {
  let state = BigInt(Bun.hash(seed))
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
    return Number(state >> 11n) / 2 ** 53
  }
}

/** Places to cut these bytes at, in order: a few, or very many. */
export function cutsOf(body: Uint8Array, random: () => number): number[] {
  const count = Math.ceil(random() ** 3 * Math.min(200, body.length))
  return Array.from({ length: count }, () => Math.floor(random() * body.length)).toSorted((a, b) => a - b)
}
