import { describe, expect, test } from 'bun:test'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import { chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'

describe('the metadata of a reply', () => {
  test('has the id, time, model and provider of the gateway', async () => {
    await using scenario = await startScenario(jsonReply())
    const first = await readCompletion(await scenario.app.chat(chatRequest))
    const second = await readCompletion(await scenario.app.chat(chatRequest))
    expect(first).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9A-Za-z]{20,}$/),
      object: 'chat.completion',
      model: 'acme/river',
      provider: 'acme',
      performance_mode: 'standard',
      service_tier: null,
    })
    expect(Math.abs(first.created - Date.now() / 1000)).toBeLessThan(60)
    expect(second.id > first.id).toBe(true)
    expect(first).not.toHaveProperty('warnings')
    expect(first).not.toHaveProperty('metadata')
    expect(JSON.stringify(first)).not.toMatch(/upstream-1|upstream-model|river-1/)
  })

  test.each([['river'], ['my-river'], ['acme/river']])(
    'has the slug of the model, requested as %s',
    async (name) => {
      await using scenario = await startScenario([jsonReply(), streamReply()], {
        model: { aliases: ['my-river'] },
      })
      expect((await readCompletion(await scenario.app.chat({ ...chatRequest, model: name }))).model).toBe(
        'acme/river',
      )
      const stream = await readStreamed(
        await scenario.app.chat({ ...chatRequest, model: name, stream: true }),
      )
      expect(new Set(stream.chunks.map(({ model }) => model))).toEqual(new Set(['acme/river']))
    },
  )

  test('a request for an unknown model is a 404 that names the parameter', async () => {
    await using scenario = await startScenario(jsonReply())
    const response = await scenario.app.chat({ ...chatRequest, model: 'acme/lake' })
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({
      error: {
        message: expect.stringContaining('acme/lake'),
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      },
    })
    expect(scenario.acme.requests).toEqual([])
  })
})

describe('usage that the provider did not report', () => {
  const silent = chatOutput({}, { usage: undefined })

  test('is estimated in a complete reply, with a warning', async () => {
    await using scenario = await startScenario(jsonReply(silent))
    const { usage, warnings } = await readCompletion(await scenario.app.chat(chatRequest))
    expect(usage.prompt_tokens).toBeGreaterThan(3)
    expect(usage.completion_tokens).toBe(5)
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
    expect(warnings).toEqual([expect.stringContaining('estimated')])
  })

  test('is estimated in a stream, with a warning beside it', async () => {
    await using scenario = await startScenario(streamReply(silent))
    const body = { ...chatRequest, stream: true, stream_options: { include_usage: true } }
    const { chunks, text } = await readStreamed(await scenario.app.chat(body))
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: 5 },
      warnings: [expect.stringContaining('estimated')],
    })
    expect(text.match(/estimated/g)).toHaveLength(1)
  })

  test('causes no warning where no usage was requested', async () => {
    await using scenario = await startScenario(streamReply(silent))
    const { text } = await readStreamed(await scenario.app.chat({ ...chatRequest, stream: true }))
    expect(text).not.toMatch(/estimated|usage/)
  })
})

describe('the cost of a reply', () => {
  async function costOf(
    pricing: ModelDetails['pricing'],
    usage: object,
    body: object = {},
    more: ScenarioOptions = {},
  ) {
    const options = { ...more, model: { pricing, ...more.model } }
    await using scenario = await startScenario(jsonReply(chatOutput({}, { usage })), options)
    const response = await scenario.app.chat({ ...chatRequest, ...body })
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    return response.headers.get('x-weir-cost')
  }

  const thousand = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  const cached = { ...thousand, prompt_tokens_details: { cached_tokens: 400 } }
  const written = { ...thousand, prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 100 } }
  const prices = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
  const tiers = [{ above: 500, input: 6, output: 22.5 }]
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }

  const costs: readonly (readonly [string, ModelDetails['pricing'], object, string])[] = [
    ['input and output', prices, thousand, '0.004500000'],
    ['tokens from the cache', prices, cached, '0.003420000'],
    [
      'tokens from the cache of a model without a price for them',
      { input: 3, output: 15 },
      cached,
      '0.004500000',
    ],
    ['tokens written to the cache', prices, written, '0.003495000'],
    ['a prompt above a tier', { ...prices, tiers }, thousand, '0.008250000'],
    [
      'a prompt at the border of a tier',
      { ...prices, tiers: [{ above: 1000, input: 6 }] },
      thousand,
      '0.004500000',
    ],
    ['a price for the request', { ...prices, request: 0.01 }, thousand, '0.014500000'],
    ['a fraction that no binary number has', { input: 0.1, output: 0.2 }, thousand, '0.000120000'],
    ['nothing', { input: 0, output: 0 }, thousand, '0.000000000'],
  ]

  test.each([...costs])('includes %s', async (_, pricing, usage, expected) => {
    expect(await costOf(pricing, usage)).toBe(expected)
  })

  test('includes the price of each image in the prompt', async () => {
    const messages = [{ role: 'user', content: [image, image, { type: 'text', text: 'Which?' }] }]
    expect(await costOf({ ...prices, image: 0.001 }, thousand, { messages })).toBe('0.006500000')
  })

  test('is absent for a model without a price', async () => {
    expect(await costOf(undefined, thousand)).toBeNull()
  })

  test('in fast mode is the price of the fast mode', async () => {
    const fast = {
      strategy: 'service_tier',
      service_tier: 'priority',
      pricing: { input: 30, output: 150 },
    } as const
    expect(await costOf(prices, thousand, { performance_mode: 'fast' }, { model: { fast } })).toBe(
      '0.045000000',
    )
  })
})
