import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Compile } from 'typebox/compile'
import { ChatCompletionChunk, FragmentedChunk } from '../../../src/api/chat-completions/reply-schema.ts'
import type { ProviderSettings } from '../../../src/config/provider-settings.ts'
import { startApp } from '../../support/app.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame, chatOutput, streamReply } from '../../support/chat-fixtures.ts'
import { joinChunks, joinedChoices, readCompletion, readStreamed } from '../../support/chat-reply.ts'
import { joinFragments } from '../../support/fragments.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { breakOff, events, hang, json } from '../../support/script.ts'

const streamRequest = { ...chatRequest, stream: true }
const inFragments = { settings: { compatibility: { tool_call_fragments: true } } } as const
const modes: [string, ScenarioOptions][] = [
  ['complete', {}],
  ['in fragments', inFragments],
]

const wires: [folder: string, acme: Partial<ProviderSettings>][] = [
  ['openai-chat', { kind: 'openai-compatible' }],
  ['anthropic', { kind: 'anthropic' }],
  ['gemini', { kind: 'gemini' }],
  ['responses', { kind: 'openai', api: 'responses' }],
]

function fixture(folder: string, name: string): string {
  return readFileSync(join(import.meta.dir, '../../fixtures', folder, name), 'utf8')
}

/** The stream of the fixture, of which the rest comes when the gate opens: behind the begin of its tool call. */
function cutBehindBegin(folder: string, gate: Promise<void>) {
  const frames = fixture(folder, 'tools.sse')
    .split('\n\n')
    .map((frame) => `${frame}\n\n`)
  const begin = frames.findIndex((frame) => frame.includes('open_gate')) + 1
  return events([frames.slice(0, begin).join(''), gate, frames.slice(begin).join('')])
}

const piece = (index: number, fields: object, rest: object = {}) =>
  delta({ tool_calls: [{ index, ...rest, function: fields }] })
const begin = piece(0, { name: 'read_level', arguments: '' }, { id: 'call_a1b2c3', type: 'function' })
const half = [begin, piece(0, { arguments: '{"place":"at' })]

describe('a streamed tool call', () => {
  const slow = wires.filter(([folder]) => folder !== 'gemini')

  test.each(slow)('starts the reply before its arguments are complete: %s', async (folder, acme) => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(cutBehindBegin(folder, gate.promise), { acme })
    const response = await scenario.app.chat(streamRequest)
    const copy = response.clone()
    await readPieces(copy).until('"role":"assistant"')
    gate.resolve()
    const { chunks, done } = await readStreamed(response)
    expect(done).toBe(true)
    expect(joinChunks(chunks)[0]?.calls).toMatchObject([
      { function: { arguments: '{"gate":"north","cm":40}' } },
    ])
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
    expect(
      chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? [])),
    ).toHaveLength(1)
  })

  test.each(slow)(
    'is sent in fragments as they arrive, where that is configured: %s',
    async (folder, acme) => {
      const gate = Promise.withResolvers<void>()
      await using scenario = await startScenario(cutBehindBegin(folder, gate.promise), {
        acme,
        ...inFragments,
      })
      const response = await scenario.app.chat(streamRequest)
      const copy = response.clone()
      await readPieces(copy).until('"function":{"name":"open_gate","arguments":""}')
      gate.resolve()
      const { chunks } = await readStreamed(response)
      expect(joinFragments(chunks)).toMatchObject([
        { type: 'function', function: { name: 'open_gate', arguments: '{"gate":"north","cm":40}' } },
      ])
      const pieces = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
      expect(pieces.length).toBeGreaterThan(2)
    },
  )

  test('has only its index and its arguments in later fragments', async () => {
    const calls = [{ id: 'call_a1b2c3', name: 'read_level', arguments: ['{"at"', ':"dam"}'] }]
    const script = streamReply(chatOutput({ text: undefined, calls, finish: 'tool_calls' }))
    await using scenario = await startScenario(script, inFragments)
    const { chunks } = await readStreamed(await scenario.app.chat(streamRequest))
    expect(chunks.map(({ choices }): unknown => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      {
        tool_calls: [
          { index: 0, id: 'call_a1b2c3', type: 'function', function: { name: 'read_level', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"at"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':"dam"}' } }] },
      {},
    ])
  })

  test('of the built-in model is sent in fragments, too', async () => {
    await using app = await startApp(inFragments)
    const tools = [{ type: 'function', function: { name: 'read', parameters: { properties: { at: {} } } } }]
    const body = { ...streamRequest, model: 'weir/echo', tools, tool_choice: 'required' }
    const { chunks, done } = await readStreamed(await app.chat(body))
    expect(joinFragments(chunks)).toMatchObject([{ function: { name: 'read' } }])
    expect(done).toBe(true)
  })
})

describe.each(modes)('the tool calls of a stream (%s)', (mode, options) => {
  const names = ['tools', 'parallel-tools', 'text']

  test.each(wires)('are equal to those of the complete reply: %s', async (folder, acme) => {
    await using scenario = await startScenario([], { acme, ...options })
    const chunk = Compile(mode === 'complete' ? ChatCompletionChunk : FragmentedChunk)
    for (const name of names) {
      scenario.acme.respondWith(
        json(fixture(folder, `${name}.json`)),
        events([fixture(folder, `${name}.sse`)]),
      )
      const [complete] = joinedChoices(await readCompletion(await scenario.app.chat(chatRequest)))
      const { chunks } = await readStreamed(await scenario.app.chat(streamRequest))
      expect(chunks.filter((one) => !chunk.Check(one))).toEqual([])
      const [received] = joinChunks(chunks)
      const calls = mode === 'complete' ? received?.calls : joinFragments(chunks)
      expect({ ...received, calls: calls?.map(withoutId) }).toEqual({
        ...complete!,
        calls: complete!.calls.map(withoutId),
      })
    }
  })

  test('end with an error where one of them is interrupted, and that one is never complete', async () => {
    const first = piece(0, { name: 'read_flow', arguments: '{}' }, { id: 'call_f1f2f3', type: 'function' })
    const second = piece(1, { name: 'read_level', arguments: '{"place":"at' }, { id: 'call_a1b2c3' })
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(chunks([first, second, gate.promise], breakOff), options)
    const response = await scenario.app.chat(streamRequest)
    const copy = response.clone()
    await readPieces(copy).until(mode === 'complete' ? 'read_flow' : 'place')
    gate.resolve()
    const { chunks: received, done, error } = await readStreamed(response)
    expect(done).toBe(false)
    expect(error?.code).toBe('upstream_unavailable')
    const joined = mode === 'complete' ? joinChunks(received)[0]?.calls : joinFragments(received)
    const flow = { function: { name: 'read_flow', arguments: '{}' } }
    const cut = { function: { name: 'read_level', arguments: '{"place":"at' } }
    expect(joined).toMatchObject(mode === 'complete' ? [flow] : [flow, cut])
    expect(joined).toHaveLength(mode === 'complete' ? 1 : 2)
  })

  test('are retried when the stream breaks before they start, and not afterwards', async () => {
    const again = { settings: { ...options.settings, retries: { attempts: 1 } } }
    const role = delta({ role: 'assistant', content: '' })
    const reply = streamReply(chatOutput())
    await using early = await startScenario([chunks([role], breakOff), reply], again)
    expect((await readStreamed(await early.app.chat(streamRequest))).done).toBe(true)
    const gate = Promise.withResolvers<void>()
    await using late = await startScenario([chunks([role, begin, gate.promise], breakOff), reply], again)
    const response = await late.app.chat(streamRequest)
    const copy = response.clone()
    await readPieces(copy).until('"role":"assistant"')
    gate.resolve()
    expect((await readStreamed(response)).error).toBeDefined()
    expect(late.acme.requests).toHaveLength(1)
  })

  test('are counted as far as they were received when the client disconnects', async () => {
    await using scenario = await startScenario(chunks(half, hang), options)
    const response = await scenario.app.chat(streamRequest)
    const reader = readPieces(response)
    await reader.until('"role":"assistant"')
    await reader.leave()
    const { output_tokens, estimated } = await scenario.app.requestLines.of(response)
    expect(Number(output_tokens)).toBeGreaterThan(0)
    expect(estimated).toBe(true)
  })

  test('are stored complete', async () => {
    const calls = [{ id: 'call_a1b2c3', name: 'read_level', arguments: ['{"at"', ':"dam"}'] }]
    const script = streamReply(chatOutput({ text: undefined, calls, finish: 'tool_calls' }))
    await using scenario = await startScenario(script, options)
    const { chunks } = await readStreamed(await scenario.app.chat({ ...streamRequest, store: true }))
    const stored = await scenario.app.request(`/v1/chat/completions/${chunks[0]?.id}`)
    expect(joinedChoices(await readCompletion(stored))[0]?.calls).toEqual([
      { id: 'call_a1b2c3', type: 'function', function: { name: 'read_level', arguments: '{"at":"dam"}' } },
    ])
  })

  test('match the schema of the OpenAPI document', async () => {
    await using scenario = await startScenario([], options)
    const document = await (await scenario.app.request('/openapi.json')).text()
    const fragment = '{"type":"object","required":["index","function"]'
    expect(document.includes(fragment)).toBe(mode !== 'complete')
  })
})

test('a stream of tool calls and text with a final usage frame counts its tokens once', async () => {
  const rest = [piece(0, { arguments: ' the dam"}' }), delta({}, 'tool_calls'), doneFrame]
  await using scenario = await startScenario(chunks([...half, ...rest]))
  const options = { stream_options: { include_usage: true } }
  const { chunks: received } = await readStreamed(await scenario.app.chat({ ...streamRequest, ...options }))
  const characters = 'read_level{"place":"at the dam"}'.length
  expect(received.at(-1)?.usage?.completion_tokens).toBe(Math.ceil(characters / 4))
})

function withoutId(call: object): object {
  return { ...call, id: 'its own' }
}
