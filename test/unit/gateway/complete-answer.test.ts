import { expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../src/domain/generation/events.ts'
import { BrokenAnswer, completeAnswer } from '../../../src/gateway/routing/complete-answer.ts'
import { fromGenerator } from '../../../src/lib/push-stream.ts'

const megabyte = 'x'.repeat(1024 * 1024)

test.each<[string, GenerationEvent, number]>([
  ['text', { type: 'text', choice: 0, text: megabyte }, 17],
  ['log probabilities', { type: 'logprobs', choice: 0, logprobs: megabyte }, 32],
])('%s without end is a failure of the provider, before it fills the memory', async (_, event, most) => {
  let [sent, ended] = [0, false]
  async function* answer() {
    try {
      for (; sent < 100; sent++) yield [event]
    } finally {
      ended = true
    }
  }
  const upstream = fromGenerator(answer())
  const failure = await completeAnswer(upstream.first(), upstream, 'acme').catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(BrokenAnswer)
  expect(failure).toMatchObject({ error: { status: 502, code: 'upstream_unavailable' } })
  expect(sent).toBe(most)
  expect(ended).toBe(true)
})
