/** The seed of a soak: a new one each time, which `bun run test:soak` prints and WEIR_TEST_SEED repeats. */
export const soakSeed = process.env.WEIR_TEST_SEED ?? String(Date.now())
