import OpenAI, { APIError } from 'openai'
import { afterAll, describe, expect, test } from 'bun:test'
import { testSeed } from '../../../support/seed.ts'
import { renderFrame } from '../../../../src/api/responses/render/render-event.ts'
import { renderResponse } from '../../../../src/api/responses/render/render-response.ts'
import { randomFrom } from '../../providers/protocols/support/random.ts'
import { runOf, runs } from './support/step-cases.ts'
import { randomRun } from './support/step-random.ts'

const options = { openResponses: false, cacheWriteTokens: false }
const random = randomFrom(testSeed)

/** What the server answers to a question, by the name of its model. */
const streams = new Map<string, string>()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    const { model } = (await request.json()) as { model: string }
    return new Response(streams.get(model), { headers: { 'content-type': 'text/event-stream' } })
  },
})
const client = new OpenAI({ baseURL: `${server.url}v1`, apiKey: 'none', maxRetries: 0 })
afterAll(() => server.stop(true))

type Run = Readonly<Parameters<typeof runOf>>

/** Lets the stock client read the run's stream and check it as it does. */
function streamed(name: string, run: Run, without: (type: string) => boolean = () => false) {
  const { state, told: received } = runOf(...run)
  const frames = received.filter(({ type }) => !without(type)).map((event) => renderFrame(event, options))
  streams.set(name, frames.join(''))
  const stream = client.responses.stream({ model: name, input: 'How high is it?' })
  return { stream, state, told: received }
}

async function collected(stream: ReturnType<typeof streamed>['stream']) {
  let text = ''
  const numbers: number[] = []
  for await (const event of stream) {
    numbers.push(event.sequence_number)
    if (event.type === 'response.output_text.delta') text += event.delta
  }
  return { text, numbers }
}

const unfailing = Object.entries(runs).filter(([name]) => !name.startsWith('failed'))
const failing = Object.entries(runs).filter(([name]) => name.startsWith('failed'))

describe('the OpenAI client accepts the stream:', () => {
  test.each(unfailing)('%s', async (name, run) => {
    const { stream, state, told: received } = streamed(name, run)
    const { text, numbers } = await collected(stream)
    const final = await stream.finalResponse()
    expect(numbers).toEqual([...received.keys()])
    expect(final).toMatchObject(JSON.parse(JSON.stringify(renderResponse(state, options))))
    expect(final.output_text).toBe(text)
  })
})

describe('the OpenAI client throws the failure of the stream:', () => {
  test.each(failing)('%s', async (name, run) => {
    const error: unknown = await collected(streamed(name, run).stream).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ code: 'upstream_unavailable', type: 'server_error', param: null })
  })

  test.each(failing)(
    'a client that ignores the error event finds the error in the response: %s',
    async (name, run) => {
      const { stream, state } = streamed(`overlooked ${name}`, run, (type) => type === 'error')
      const final = await stream.finalResponse()
      expect(final.status).toBe('failed')
      expect(final.error).toMatchObject({ code: 'server_error', message: 'The provider broke off.' })
      expect(final.output).toMatchObject(JSON.parse(JSON.stringify(renderResponse(state, options).output)))
    },
  )
})

test(`the OpenAI client accepts whatever a model may emit (seed ${testSeed})`, async () => {
  for (const index of Array.from({ length: 100 }).keys()) {
    const { stream, state } = streamed(`random ${index}`, randomRun(random), (type) => type === 'error')
    const final = await stream.finalResponse()
    expect(final.status).toBe(state.status)
    expect(final.output).toMatchObject(JSON.parse(JSON.stringify(renderResponse(state, options).output)))
  }
})
