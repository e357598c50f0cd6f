import { test } from 'bun:test'
import { expectModelResponses } from './support/random-responses.ts'

const seed = process.env.WEIR_TEST_SEED ?? 'spring'

test(`the stored responses agree with a simple model after hundreds of random actions (seed ${seed})`, async () => {
  await expectModelResponses(seed, 40)
})
