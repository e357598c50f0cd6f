import { expect, test } from 'bun:test'
import { postResponse, readEvents, retrieveResponse, createResponse } from '../../support/responses.ts'
import { readCompletion } from '../../support/chat-reply.ts'
import { chatOutput, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const usage = {
  prompt_tokens: 12,
  completion_tokens: 5,
  total_tokens: 17,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 6 },
}
const output = chatOutput({}, { usage })
const enabled = { settings: { compatibility: { cache_write_tokens: true } } }
const scripts = [jsonReply(output), streamReply(output), jsonReply(output), streamReply(output)]

/** The counts of input tokens in each API: of a reply, and of the end of a stream. */
async function detailsOf(options: object): Promise<readonly unknown[]> {
  await using scenario = await startScenario(scripts, options)
  const completion = await readCompletion(await scenario.app.chat(chatRequest))
  const asked = { ...chatRequest, stream: true, stream_options: { include_usage: true } }
  const frames = (await (await scenario.app.chat(asked)).text()).split('\n\n')
  const last = frames.findLast((frame) => frame.includes('"choices":[]')) ?? ''
  const { usage: streamed } = JSON.parse(last.slice('data: '.length)) as {
    readonly usage: Record<string, unknown>
  }
  const response = await createResponse(scenario.app)
  const events = await readEvents(await postResponse(scenario.app, { stream: true }))
  const stored = await retrieveResponse(scenario.app, response.id)
  return [
    completion.usage.prompt_tokens_details,
    streamed.prompt_tokens_details,
    response.usage?.input_tokens_details,
    events.last?.usage?.input_tokens_details,
    stored.usage?.input_tokens_details,
  ]
}

test('with compatibility.cache_write_tokens, token counts have what was written to the cache', async () => {
  const written = { cached_tokens: 4, cache_write_tokens: 6 }
  expect(await detailsOf(enabled)).toEqual([written, written, written, written, written])
})

test('without it, they have the fields of the interface alone', async () => {
  const read = { cached_tokens: 4 }
  expect(await detailsOf({})).toEqual([read, read, read, read, read])
})
