import { describe, expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { queueRun, waitForRun } from '../../support/background.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { chunks, delta, doneFrame, jsonReply, streamReply, usage } from '../../support/chat-fixtures.ts'
import { createResponse, replayResponse, retrieveResponse, streamResponse } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { events, json } from '../../support/script.ts'

const text = 'It stands at 3 m [1].'
const page = { url: 'https://river.example/gauge', title: 'Gauge', start_index: 17, end_index: 20 }
const annotation = { type: 'url_citation', ...page }
const inChat = [{ type: 'url_citation', url_citation: page }]
const part = { type: 'output_text', text, annotations: [annotation], logprobs: [] }

const reply = json({
  choices: [
    { index: 0, message: { role: 'assistant', content: text, annotations: inChat }, finish_reason: 'stop' },
  ],
  usage,
})
const stream = chunks([
  delta({ content: 'It stands ', annotations: inChat }),
  delta({ content: 'at 3 m [1].', annotations: inChat }),
  delta({}, 'stop'),
  { choices: [], usage },
  doneFrame,
])
const plain = await plainTypes()

/** The types of the events without citations. */
async function plainTypes(): Promise<readonly string[]> {
  await using scenario = await startScenario(streamReply())
  return (await streamResponse(scenario.app)).types
}

function partsOf({ output }: ResponseObject): unknown {
  return output.flatMap((item) => (item.type === 'message' ? item.content : []))
}

describe('the pages that a response cites', () => {
  test('are annotations of its text, also when it is retrieved and replayed', async () => {
    await using scenario = await startScenario(reply)
    const response = await createResponse(scenario.app)
    expect(partsOf(response)).toEqual([part])
    expect(await retrieveResponse(scenario.app, response.id)).toEqual(response)
    const { events, last } = await replayResponse(scenario.app, response.id)
    expect(last).toEqual(response)
    expect<unknown>(events.find(({ type }) => type === 'response.content_part.done')).toMatchObject({ part })
  })

  test('are streamed with the end of the text, without an event of their own', async () => {
    await using scenario = await startScenario(stream)
    const { events, types, last, text: received } = await streamResponse(scenario.app)
    expect(types).toEqual([...plain])
    const citing = events.filter((event) => JSON.stringify(event).includes(page.url))
    expect(citing.map(({ type }) => type)).toEqual([
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect<unknown>(citing).toMatchObject([{ part }, { item: { content: [part] } }, {}])
    expect(partsOf(last!)).toEqual([part])
    expect(await retrieveResponse(scenario.app, last!.id)).toEqual(last!)
    expect((await replayResponse(scenario.app, last!.id)).text).toBe(received)
  })

  test('are those of a provider that speaks the Responses API', async () => {
    const acme = { kind: 'openai', api: 'responses' } as const
    const item = { type: 'message', id: 'msg_1', content: [{ ...part, annotations: [annotation] }] }
    const frames = [
      { type: 'response.output_text.delta', delta: text },
      { type: 'response.output_text.annotation.added', annotation_index: 0, annotation },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { status: 'completed', output: [item] } },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    const single = json({ status: 'completed', output: [item] })
    await using scenario = await startScenario([single, events(frames)], { acme })
    expect(partsOf(await createResponse(scenario.app))).toEqual([part])
    const { types, last } = await streamResponse(scenario.app)
    expect(partsOf(last!)).toEqual([part])
    expect(types).not.toContain('response.output_text.annotation.added')
  })

  test('are kept by a background run, also after the gateway restarts', async () => {
    await using paid = await startBillingScenario(stream)
    const { id } = await queueRun(paid.app)
    const run = await waitForRun(paid.app, id)
    expect(partsOf(run)).toEqual([part])
    await paid.app.stop()
    await using again = await startScenario([], { database: paid.database })
    expect(await retrieveResponse(again.app, id)).toEqual(run)
  })

  test('are not sent to the provider with the next turn', async () => {
    await using scenario = await startScenario([reply, jsonReply()])
    const { id } = await createResponse(scenario.app)
    await createResponse(scenario.app, { previous_response_id: id, input: 'And now?' })
    const next = scenario.acme.requests[1]!.text
    expect(next).toContain(text)
    expect(next).not.toContain(page.url)
  })
})

test('a response that cites no pages has an empty list of annotations', async () => {
  await using scenario = await startScenario([jsonReply(), streamReply()])
  const [created, { last }] = [await createResponse(scenario.app), await streamResponse(scenario.app)]
  for (const response of [created, last!]) expect(partsOf(response)).toMatchObject([{ annotations: [] }])
})
