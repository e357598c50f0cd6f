import { describe, expect, test } from 'bun:test'
import { promptCost, startBillingScenario, replyCost } from '../../support/billing-scenario.ts'
import {
  chunks,
  delta,
  doneFrame,
  chatOutput,
  streamReply,
  usage,
  jsonReply,
} from '../../support/chat-fixtures.ts'
import { readStreamed } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'

/** What the provider counts, and what is charged for it: a model with a window of 1,000 that answers with 100 at most. */
const cases = [
  { of: 'the whole window', prompt: 1000, completion: 5, body: {}, cost: 1000 * 1000 + 5 * 10_000 },
  { of: 'more than the window', prompt: 1001, completion: 5, body: {}, cost: 1000 * 1000 + 5 * 10_000 },
  { of: 'all that the model can answer', prompt: 12, completion: 100, body: {}, cost: 12_000 + 100 * 10_000 },
  { of: 'more than that', prompt: 12, completion: 101, body: {}, cost: 12_000 + 100 * 10_000 },
  {
    of: 'more than was asked for',
    prompt: 12,
    completion: 11,
    body: { max_tokens: 10 },
    cost: 12_000 + 10 * 10_000,
  },
  {
    of: 'more than several answers can be',
    prompt: 12,
    completion: 40,
    body: { max_tokens: 10, n: 3 },
    cost: 12_000 + 30 * 10_000,
  },
]

describe.each([true, false])(
  'the usage that a provider reports is limited to what the request can hold (streamed: %p)',
  (stream) => {
    test.each(cases)('where it counts $of', async ({ prompt, completion, body, cost }) => {
      const usage = {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
      }
      const reply = stream ? streamReply(chatOutput({}, { usage })) : jsonReply(chatOutput({}, { usage }))
      await using paid = await startBillingScenario(reply, { model: { context_window: 1000 } })
      await (await paid.app.chat({ ...chatRequest, ...body, stream })).text()
      const [row] = await paid.billing.waitForUsage(1)
      expect(row?.cost).toBe(cost)
      await paid.billing.expectConsistent()
      const warnings = paid.app.lines.map((line) => JSON.parse(line))
      const exact = cost === prompt * 1000 + completion * 10_000
      expect(warnings.map(({ level }) => level)).toEqual(exact ? [] : ['warn'])
      if (!exact)
        expect(warnings[0]).toMatchObject({
          provider: 'acme',
          model: 'river-1',
          promptTokens: prompt,
          completionTokens: completion,
        })
    })
  },
)

test('without a known context window, reported prompt tokens are limited to the bytes of the prompt and its overhead', async () => {
  const usage = { prompt_tokens: 900_000, completion_tokens: 5, total_tokens: 900_005 }
  await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })), { balance: '10' })
  await paid.app.chat(chatRequest)
  const long = { ...chatRequest, messages: [{ role: 'user', content: 'é'.repeat(20_000) }] }
  await paid.app.chat(long)
  const costs = (await paid.billing.usage()).map(({ cost }) => cost)
  expect(costs).toEqual([8192 * 1000 + 50_000, (64 + 8 + 40_000) * 1000 + 50_000])
})

test('reported usage without prompt tokens does not count as usage', async () => {
  const usage = { prompt_tokens: 0, completion_tokens: 5, total_tokens: 5 }
  await using paid = await startBillingScenario([
    jsonReply(chatOutput({}, { usage })),
    streamReply(chatOutput({}, { usage })),
  ])
  await paid.app.chat(chatRequest)
  expect((await readStreamed(await paid.app.chat({ ...chatRequest, stream: true }))).done).toBe(true)
  const rows = await paid.billing.waitForUsage(2)
  for (const row of rows) expect(row).toMatchObject({ cost: promptCost + 5 * 10_000, estimated: 1 })
})

test('usage before the output that is all zero is ignored', async () => {
  const zero = { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }
  const frames = [
    zero,
    delta({ content: 'It is four metres.' }),
    delta({}, 'stop'),
    { choices: [], usage },
    doneFrame,
  ]
  await using paid = await startBillingScenario([
    chunks(frames),
    chunks([zero, ...frames.slice(1, 3), doneFrame]),
  ])
  for (let round = 0; round < 2; round++) await (await paid.app.chat({ ...chatRequest, stream: true })).text()
  const rows = await paid.billing.waitForUsage(2)
  expect(rows[0]).toMatchObject({ cost: replyCost, estimated: 0 })
  expect(rows[1]).toMatchObject({ prompt_tokens: 8, completion_tokens: 5, estimated: 1 })
})
