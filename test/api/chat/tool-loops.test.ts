import { describe, expect, test } from 'bun:test'
import type { Fields } from '../../../src/lib/json/json.ts'
import { startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { deepseek, kimi, openrouter } from '../support/tool-loop-chat.ts'
import { anthropic, gemini } from '../support/tool-loop-native.ts'
import { objectsIn, startLoopProvider } from '../support/tool-loop-provider.ts'
import { withReply, sendTurn, firstMessages, type Reply, startLoopApp } from '../support/tool-loop.ts'

const wires = { anthropic, gemini, deepseek, kimi, openrouter }
const ways = Object.entries(wires).flatMap(([name, protocol]) => [
  [name, 'not streamed', protocol, false] as const,
  [name, 'streamed', protocol, true] as const,
])

describe.each(ways)('a tool loop of three turns at %s (%s)', (_name, _way, protocol, stream) => {
  test('completes with a plain client, and each turn sends all earlier reasoning back', async () => {
    using provider = startLoopProvider(protocol)
    await using app = await startLoopApp({ acme: [protocol, provider] })
    let messages = firstMessages()
    const replies: Reply[] = []
    for (let turn = 0; turn < 3; turn++) {
      const reply = await sendTurn(app, messages, { stream })
      messages = withReply(messages, reply)
      replies.push(reply)
    }
    expect(replies.map(({ message }) => message.tool_calls?.length ?? 0)).toEqual([2, 1, 0])
    expect(replies[2]?.message.content).toBe('The gate is open.')
    expect(replies.flatMap(({ warnings }) => warnings)).toEqual([])
    const [first = '', second = ''] = provider.issued
    const [, ofSecond, ofThird] = provider.requests.map((body) => JSON.stringify(body))
    expect(provider.requests).toHaveLength(3)
    expect([ofSecond, ofThird].map((text) => text?.includes(first))).toEqual([true, true])
    expect(ofThird).toContain(second)
  })

  test('gives each call a unique id and shows the client none of the stored state', async () => {
    using provider = startLoopProvider(protocol)
    await using app = await startLoopApp({ acme: [protocol, provider] })
    const first = await sendTurn(app, firstMessages(), { stream })
    const later = await sendTurn(app, firstMessages(), { stream })
    const stateful = [first, later].map(({ message }) => message.tool_calls?.[0]?.id)
    if (protocol !== anthropic) expect(new Set(stateful).size).toBe(2)
    expect(new Set(first.message.tool_calls?.map(({ id }) => id)).size).toBe(2)
    // What DeepSeek and Kimi want back is the reasoning that the caller may read.
    for (const text of protocol === deepseek || protocol === kimi ? [] : [first.text, later.text]) {
      for (const signature of provider.issued) expect(text).not.toContain(signature)
    }
  })
})

test.each([
  ['kimi', kimi, ['functions.read_level:0', 'functions.read_level:1', 'functions.open_gate:0']],
  ['openrouter', openrouter, ['tool_0_read_level', 'tool_1_read_level', 'tool_0_open_gate']],
])('%s receives the ids that it gave to the calls, which the client never sees', async (_, protocol, ids) => {
  using provider = startLoopProvider(protocol)
  await using app = await startLoopApp({ acme: [protocol, provider] })
  let messages = firstMessages()
  for (let turn = 0; turn < 3; turn++) messages = withReply(messages, await sendTurn(app, messages))
  const sent = objectsIn(provider.requests[2]?.messages)
  const idsOf = (list: unknown) => objectsIn(list).flatMap(({ id }) => id)
  expect(sent.flatMap(({ tool_calls }) => idsOf(tool_calls))).toEqual(ids)
  expect(sent.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(ids)
  const seen = JSON.stringify(messages)
  for (const index of [0, 2]) expect(seen).not.toContain(ids[index]!)
})

test.each(['together', 'cerebras'])('%s receives the reasoning of a tool turn in its field', async (kind) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'read_level', arguments: '{}' } }
  const message = { role: 'assistant', content: '', reasoning: 'The gauge comes first.', tool_calls: [call] }
  const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 }
  const script = json({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })
  await using scenario = await startScenario(script, { acme: { kind } })
  const messages = firstMessages()
  await sendTurn(scenario.app, withReply(messages, await sendTurn(scenario.app, messages)))
  const [, second] = scenario.acme.requests
  const [, turn, result] = objectsIn(second?.body.messages)
  expect(turn).toMatchObject({ role: 'assistant', reasoning: message.reasoning, tool_calls: [call] })
  // Cerebras rejects the field under its other name.
  expect(turn).not.toHaveProperty('reasoning_content')
  expect(result).toMatchObject({ role: 'tool', tool_call_id: 'call_1' })
})

describe.each(Object.entries(wires))('the test provider of the %s protocol', (_, protocol) => {
  test.each([
    ['altered', (body: Fields, signature: string) => JSON.stringify(body).replaceAll(signature, 'Zm9yZ2Vk')],
    ['left out', (body: Fields) => JSON.stringify(withoutThoughts(body))],
  ])('rejects a conversation whose reasoning was %s', async (_way, change) => {
    using provider = startLoopProvider(protocol)
    await using app = await startLoopApp({ acme: [protocol, provider] })
    const messages = firstMessages()
    await sendTurn(app, withReply(messages, await sendTurn(app, messages)))
    const [signature = ''] = provider.issued
    const [, good = {}] = provider.requests
    expect(await statusOf(provider.url, JSON.stringify(good))).toBe(200)
    expect(await statusOf(provider.url, change(good, signature))).toBe(400)
  })
})

function withoutThoughts(body: Fields): unknown {
  const fields = ['thoughtSignature', 'reasoning_content', 'reasoning_details']
  return JSON.parse(JSON.stringify(body), (key, value) => {
    if (fields.includes(key)) return undefined
    return Array.isArray(value) ? value.filter((item) => item?.type !== 'thinking') : value
  })
}

async function statusOf(url: string, body: string): Promise<number> {
  return (await fetch(`${url}/again`, { method: 'POST', body })).status
}
