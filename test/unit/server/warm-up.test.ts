import { expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'

test('the first request compiles nothing after a warm-up', async () => {
  await using cold = await startScenario(jsonReply())
  await using warm = await startScenario(jsonReply())
  await warm.app.runtime.warmUp()
  expect(await functionsMadeBy(cold)).toBeGreaterThan(0)
  expect(await functionsMadeBy(warm)).toBe(0)
})

/** The functions that are compiled from text for a chat completion. */
async function functionsMadeBy({ app }: Scenario): Promise<number> {
  const { Function: original } = globalThis
  let count = 0
  globalThis.Function = new Proxy(original, {
    apply: (target, receiver, parameters: string[]) =>
      Reflect.apply(target, receiver, [...counted(parameters)]),
    construct: (target, parameters: string[]) =>
      Reflect.construct(target, [...counted(parameters)]) as object,
  })
  function counted(parameters: string[]): string[] {
    count++
    return parameters
  }
  try {
    expect((await app.chat(chatRequest)).status).toBe(200)
    return count
  } finally {
    globalThis.Function = original
  }
}
