import { describe, expect, test } from 'bun:test'
import { efforts } from '../../../src/domain/generation/request.ts'
import { openResponse } from '../../unit/api/responses/support/open-response.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import {
  replayResponse,
  createResponse,
  postResponse,
  retrieveResponse,
  streamResponse,
} from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'

const settings = { compatibility: { open_responses: true } }

/** Nothing, where it is what Open Responses asks for. */
function unlike(response: unknown): unknown[] {
  return openResponse.Errors(response).map(({ instancePath, message }) => [instancePath, message])
}

const answers: Record<string, readonly [whole: Script, streamed: Script]> = {
  'text with reasoning': [
    jsonReply(chatOutput({ reasoning: ['Hm.'] })),
    streamReply(chatOutput({ reasoning: ['Hm.'] })),
  ],
  'a cut answer': [
    jsonReply(chatOutput({ finish: 'length' })),
    streamReply(chatOutput({ finish: 'length' })),
  ],
  'no usage': [
    jsonReply(chatOutput({}, { usage: undefined })),
    streamReply(chatOutput({}, { usage: undefined })),
  ],
  'no output': [jsonReply(chatOutput({ text: [] })), streamReply(chatOutput({ text: [] }))],
  'a broken stream': [jsonReply(), chunks([delta({ content: 'It is ' })])],
}

const requested: readonly object[] = [
  {},
  { reasoning: { summary: 'auto' }, max_output_tokens: 5, instructions: 'a', metadata: { a: 'b' } },
  { temperature: 0, top_p: 0.5, truncation: 'auto', tool_choice: { type: 'none' }, user: 'u', store: true },
]

describe('with open_responses enabled, every response is an Open Responses object:', () => {
  test.each(Object.entries(answers))('%s', async (_, [single, stream]) => {
    for (const body of requested) {
      await using scenario = await startScenario([single, stream], { settings })
      const response = await createResponse(scenario.app, body)
      const { events, last, text } = await streamResponse(scenario.app, body)
      const snapshots = events.flatMap((event) => ('response' in event ? [event.response] : []))
      const again = await replayResponse(scenario.app, last!.id)
      const read = [
        await retrieveResponse(scenario.app, response.id),
        await retrieveResponse(scenario.app, last!.id),
      ]
      expect([response, ...snapshots, ...read].flatMap(unlike)).toEqual([])
      expect(snapshots.length).toBe(3)
      expect(again.text).toBe(text)
      expect(read).toEqual([response, last!])
    }
  })

  test.each([...efforts])('with the effort %s', async (effort) => {
    await using scenario = await startScenario(jsonReply(), { settings })
    expect(unlike(await createResponse(scenario.app, { reasoning: { effort } }))).toEqual([])
  })
})

test('open_responses shows the effective values, and changes nothing in the upstream request', async () => {
  await using scenario = await startScenario(jsonReply(), { settings })
  const shown = await createResponse(scenario.app)
  expect(shown).toMatchObject({ temperature: 1, top_p: 1, truncation: 'disabled' })
  expect(await createResponse(scenario.app, { temperature: 0.5 })).toMatchObject({
    temperature: 0.5,
    top_p: 1,
  })
  expect(Object.keys(scenario.acme.requests[0]!.body).toSorted()).toEqual(['messages', 'model'])
})

test('open_responses applies to responses that were stored before it was enabled', async () => {
  await using scenario = await startScenario(jsonReply())
  const { id } = await createResponse(scenario.app)
  expect((await retrieveResponse(scenario.app, id)).temperature).toBeNull()
})

test('a queued run is an Open Responses object, too', async () => {
  await using scenario = await startScenario(streamReply(), { settings })
  const reply = await postResponse(scenario.app, { background: true })
  const queued = (await reply.json()) as { readonly id: string; readonly status: string }
  expect(queued.status).toBe('queued')
  expect(unlike(queued)).toEqual([])
  const { events } = await replayResponse(scenario.app, queued.id)
  const snapshots = events.flatMap((event) => ('response' in event ? [event.response] : []))
  expect(snapshots.map(({ status }) => status)).toEqual(['queued', 'queued', 'in_progress', 'completed'])
  expect(snapshots.flatMap(unlike)).toEqual([])
})
