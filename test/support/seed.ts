const ownSeed = process.env.WEIR_TEST_SEED

/** The seed of the random tests: always the same one, except where WEIR_TEST_SEED has another. */
export const testSeed = ownSeed ?? '2026'

/** How many rounds a random test has: few with the usual seed, and more with another one. */
export function roundsOf(few: number, many: number): number {
  return ownSeed === undefined ? few : many
}

/** The seed of a soak: a new one each time, which `bun run test:soak` prints and WEIR_TEST_SEED repeats. */
export const soakSeed = ownSeed ?? String(Date.now())
