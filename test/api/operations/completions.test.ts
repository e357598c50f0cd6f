import { describe, expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { startScenario } from '../../support/scenario.ts'
import { breakOff, events, json } from '../../support/script.ts'
import {
  choice,
  chunk,
  complete,
  completionModel as model,
  completionOf,
  completionReply,
  completionRequest,
  completionStream,
  completionUsage,
  done,
  streamedCompletion,
  unfinishedStream,
} from '../support/text-completions.ts'

const whole = completionReply([choice(' four metres', { finish_reason: 'length' })])

test('a completion has the text, the slug of the model, the usage and the provider', async () => {
  await using scenario = await startScenario(whole, { model })
  const reply = await complete(scenario.app, completionRequest)
  expect(reply.status).toBe(200)
  expect(await reply.json()).toEqual({
    id: expect.stringMatching(/^cmpl-/),
    object: 'text_completion',
    created: expect.any(Number),
    model: 'acme/river',
    choices: [{ index: 0, text: ' four metres', logprobs: null, finish_reason: 'length' }],
    usage: {
      ...completionUsage,
      prompt_tokens_details: expect.anything(),
      completion_tokens_details: expect.anything(),
    },
    provider: 'acme',
  })
})

describe('the provider receives', () => {
  test('the request as the client wrote it, with its own model and without labels', async () => {
    await using scenario = await startScenario(whole, { model })
    const request = {
      prompt: ['a', 'b'],
      suffix: '.',
      max_tokens: 5,
      temperature: 0.5,
      top_p: 0.9,
      n: 2,
      best_of: 3,
      logprobs: 1,
      echo: true,
      stop: ['\n'],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      logit_bias: { 50256: -100 },
      user: 'mia',
      min_p: 0.1,
    }
    const labels = { tags: ['a'], trace: { id: 'trace-1' } }
    await completionOf(scenario.app, { ...completionRequest, ...request, ...labels })
    const [received] = scenario.acme.requests
    expect(received?.path).toBe('/v1/completions')
    expect(received?.body).toEqual({ ...request, model: 'river-1' })
  })

  test('at most 16 tokens where the client names no maximum, and no empty fields', async () => {
    await using scenario = await startScenario(whole, { model })
    await completionOf(scenario.app, { ...completionRequest, suffix: null, stop: null, user: null })
    expect(scenario.acme.requests[0]?.body).toEqual({
      model: 'river-1',
      prompt: 'The gate is',
      max_tokens: 16,
    })
  })

  test('a single prompt of a list as a text, which every provider accepts', async () => {
    await using scenario = await startScenario(whole, { model })
    await completionOf(scenario.app, { ...completionRequest, prompt: ['The gate is'] })
    expect(scenario.acme.requests[0]?.body.prompt).toBe('The gate is')
  })

  test('a request for the usage of a stream', async () => {
    await using scenario = await startScenario(completionStream([choice('x', { finish_reason: 'stop' })]), {
      model,
    })
    await streamedCompletion(scenario.app, completionRequest)
    expect(scenario.acme.requests[0]?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test.each([
    ['a prompt under another spelling', { Prompt: 'x' }],
    ['embeddings in place of the prompt', { prompt_embeds: 'AAAA' }],
    ['more tokens under another name', { n_predict: 1000 }],
    ['beam search', { use_beam_search: true }],
    ['another model', { models: ['a/b'] }],
  ])('no %s', async (_, fields) => {
    await using scenario = await startScenario(whole, { model })
    const { warnings } = await completionOf(scenario.app, { ...completionRequest, ...fields })
    const [name = ''] = Object.keys(fields)
    expect(warnings).toEqual([`Parameter \`${name}\` is not supported and was ignored.`])
    expect(scenario.acme.requests[0]?.body).not.toHaveProperty(name)
  })

  test('no parameter that the model does not support, where those are dropped', async () => {
    await using scenario = await startScenario(whole, {
      model: { ...model, supported_parameters: ['max_tokens'] },
      settings: { unsupported_parameters: 'drop' },
    })
    const request = { ...completionRequest, temperature: 0.5, best_of: 2, n: 2 }
    const { warnings } = await completionOf(scenario.app, request)
    expect(warnings).toEqual([
      'Parameters `temperature` and `n` are not supported by acme/river and were ignored.',
    ])
    expect(scenario.acme.requests[0]?.body).toEqual({
      model: 'river-1',
      prompt: 'The gate is',
      max_tokens: 16,
    })
  })
})

test('log probabilities are returned as the provider sends them', async () => {
  const logprobs = {
    tokens: [' four'],
    token_logprobs: [-0.1],
    top_logprobs: [{ ' four': -0.1 }],
    text_offset: [0],
  }
  const reply = completionReply([choice(' four', { logprobs, finish_reason: 'stop' })])
  await using scenario = await startScenario(reply, { model })
  const { choices } = await completionOf(scenario.app, { ...completionRequest, logprobs: 1 })
  expect(choices).toEqual([{ index: 0, text: ' four', logprobs, finish_reason: 'stop' }])
})

describe('a streamed completion', () => {
  test('has a chunk for each text, with its log probabilities, then the finish, the usage and [DONE]', async () => {
    const first = { tokens: [' four'], token_logprobs: [-0.1], text_offset: [0] }
    const pieces = [
      choice(' four', { logprobs: first }),
      choice(' metres'),
      choice('', { finish_reason: 'stop' }),
    ]
    await using scenario = await startScenario(completionStream(pieces), { model })
    const body = { ...completionRequest, stream_options: { include_usage: true }, logprobs: 0 }
    const { chunks, done: complete } = await streamedCompletion(scenario.app, body)
    expect(complete).toBe(true)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(chunks.flatMap(({ choices }) => choices)).toEqual([
      { index: 0, text: ' four', logprobs: first, finish_reason: null },
      { index: 0, text: ' metres', logprobs: null, finish_reason: null },
      { index: 0, text: '', logprobs: null, finish_reason: 'stop' },
    ])
    expect(chunks.map(({ usage }) => usage).slice(0, -1)).toEqual([null, null, null])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: completionUsage })
  })

  test('has no usage unless it was requested', async () => {
    await using scenario = await startScenario(completionStream([choice('x', { finish_reason: 'stop' })]), {
      model,
    })
    const { chunks } = await streamedCompletion(scenario.app, completionRequest)
    expect(chunks.some((one) => 'usage' in one)).toBe(false)
  })

  test('has the choices of several prompts', async () => {
    const pieces = [
      choice('a'),
      choice('b', { index: 1, finish_reason: 'stop' }),
      choice('c', { finish_reason: 'length' }),
    ]
    await using scenario = await startScenario(completionStream(pieces), { model })
    const { chunks } = await streamedCompletion(scenario.app, { ...completionRequest, prompt: ['x', 'y'] })
    const texts = chunks
      .flatMap(({ choices }) => choices)
      .map(({ index, text, finish_reason }) => [index, text, finish_reason])
    expect(texts).toEqual([
      [0, 'a', null],
      [1, 'b', null],
      [0, 'c', null],
      [0, '', 'length'],
      [1, '', 'stop'],
    ])
  })

  const error = chunk([], { error: { message: 'The machine was lost.' } })
  test.each([
    ['ends early', unfinishedStream([choice('four')])],
    ['breaks off', unfinishedStream([choice('four')], breakOff)],
    ['reports an error', events([chunk([choice('four')]), error])],
    ['has a broken chunk', events([chunk([choice('four')]), 'data: {"choices":\n\n'])],
    [
      'ends one of two choices',
      events([chunk([choice('four'), choice('', { index: 1, finish_reason: 'stop' })]), done]),
    ],
  ])('that %s ends with an error frame, without [DONE]', async (_, script) => {
    await using scenario = await startScenario(script, { model })
    const reply = await streamedCompletion(scenario.app, completionRequest)
    expect(reply.error).toMatchObject({ code: 'upstream_unavailable' })
    expect(reply.done).toBe(false)
    expect(reply.chunks.flatMap(({ choices }) => choices.map(({ text }) => text)).join('')).toBe('four')
  })
})

test('a provider that fails is a 502 before anything is sent', async () => {
  await using scenario = await startScenario(json({ error: { message: 'Down.' } }, { status: 500 }), {
    model,
  })
  expect(await readError(await complete(scenario.app, { ...completionRequest, stream: true }))).toMatchObject(
    {
      status: 502,
    },
  )
})
