import { expect, test } from 'bun:test'
import { probeTrustMs, shareProbe } from '../../../src/storage/common/shared-probe.ts'

test('a probe that takes long is shared by all who ask until it ends', async () => {
  const answers: PromiseWithResolvers<void>[] = []
  const probe = shareProbe(
    () => {
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      return answer.promise
    },
    () => true,
  )
  const slow = probe()
  // The time for which a result is reused begins when the probe ends.
  await Bun.sleep(probeTrustMs + 1)
  expect(probe()).toBe(slow)
  expect(answers).toHaveLength(1)
  answers[0]?.resolve()
  await slow
  await Bun.sleep(probeTrustMs + 1)
  void probe()
  expect(answers).toHaveLength(2)
})
