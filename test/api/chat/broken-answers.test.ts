import { describe, expect, test } from 'bun:test'
import { replyCost, startBillingScenario } from '../../support/billing-scenario.ts'
import { chunks, delta, jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError } from '../../support/chat-reply.ts'
import { createResponse, textOf } from '../../support/responses.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { breakOffLate as breakOff, hang, jsonPieces } from '../../support/script.ts'

// Some engines stream although they were not asked to: such an answer can break off after its first events.
const begun = delta({ role: 'assistant', content: 'It is fifty ' })
const broken = chunks([begun], breakOff)
const stalled = chunks([begun], hang)
const failed = chunks([begun, { error: { message: 'Down.', code: 503 } }])
const settings = { retries: { attempts: 3 } }

/** How often the two routes were called. */
const calls = ({ acme, other }: Scenario) => [acme.requests.length, other.requests.length]

describe('an answer that is not streamed and breaks off after it has begun', () => {
  test.each([
    ['is cut', broken],
    ['falls silent', stalled],
    ['ends with an error', failed],
    ['is JSON that is cut', jsonPieces(['{"choices":[{"index":0,'], breakOff)],
  ])(
    'starts again on the next route, whose answer is the only one that is charged: it %s',
    async (_, script) => {
      const acme = { timeouts: { idle: '2s' } }
      await using paid = await startBillingScenario(script, { settings, acme, other: [jsonReply()] })
      const reply = await readCompletion(await paid.app.chat(chatRequest))
      expect([reply.provider, reply.choices[0]?.message.content]).toEqual(['other', 'It is four metres.'])
      expect(calls(paid)).toEqual([1, 1])
      const [row] = await paid.billing.waitForUsage(1)
      expect(row).toMatchObject({ provider: 'other', status: 200, cost: replyCost, prompt_tokens: 12 })
      expect(await paid.billing.entries()).toEqual([
        ['credit', 1_000_000_000],
        ['charge', -replyCost],
      ])
      await paid.billing.expectConsistent()
    },
  )

  test('starts again once, and costs nothing if it breaks off again', async () => {
    const routes = ['acme', 'other', 'other'].map((provider, index) => ({
      provider,
      model: `river-${index}`,
    }))
    const options = { settings, model: { routes }, other: [broken, jsonReply()] }
    await using paid = await startBillingScenario(broken, options)
    expect(await readError(await paid.app.chat(chatRequest))).toMatchObject({
      status: 502,
      code: 'upstream_unavailable',
    })
    expect(calls(paid)).toEqual([1, 1])
    expect(await paid.billing.waitForUsage(1)).toMatchObject([{ status: 502, cost: 0 }])
    expect(await paid.billing.account()).toEqual([1_000_000_000, 0])
    await paid.billing.expectConsistent()
  })

  test('is a failure where there is no other route, or the route is not left for it', async () => {
    await using alone = await startScenario(broken, { settings })
    expect((await readError(await alone.app.chat(chatRequest))).code).toBe('upstream_unavailable')
    const routes = [
      { provider: 'acme', model: 'river-1', on: ['rate_limited' as const] },
      { provider: 'other', model: 'river-2' },
    ]
    await using kept = await startScenario(broken, { settings, model: { routes }, other: [jsonReply()] })
    expect((await readError(await kept.app.chat(chatRequest))).code).toBe('upstream_unavailable')
    expect([calls(alone), calls(kept)]).toEqual([
      [1, 0],
      [1, 0],
    ])
  })

  test('is tried again on its own route where all others have failed', async () => {
    const cut = jsonPieces(['{"choices":'], breakOff)
    const down = chunks([{ error: { message: 'Down.', code: 500 } }])
    const options = { settings: { retries: { attempts: 1 } }, other: [cut, jsonReply()] }
    await using scenario = await startScenario([down, down], options)
    expect((await readCompletion(await scenario.app.chat(chatRequest))).provider).toBe('other')
    expect(calls(scenario)).toEqual([2, 2])
  })

  test('starts again in every API', async () => {
    const [acme, other] = [
      [broken, broken, broken],
      [jsonReply(), jsonReply(), jsonReply()],
    ]
    await using scenario = await startScenario(acme, { other })
    const { app } = scenario
    const response = await createResponse(app)
    expect([response.provider, textOf(response)]).toEqual(['other', 'It is four metres.'])
    const body = { model: 'acme/river', max_tokens: 10, messages: chatRequest.messages }
    const message = await app.request('/v1/messages', { method: 'POST', body })
    expect(await message.json()).toMatchObject({ content: [{ text: 'It is four metres.' }] })
    const stored = await readCompletion(await app.chat({ ...chatRequest, store: true }))
    const found = await app.request(`/v1/chat/completions/${stored.id}`)
    expect(await readCompletion(found)).toMatchObject({
      provider: 'other',
      choices: [{ message: { content: 'It is four metres.' } }],
    })
    expect(calls(scenario)).toEqual([3, 3])
  })
})
