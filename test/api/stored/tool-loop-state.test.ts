import { describe, expect, test } from 'bun:test'
import type { DatabaseLocation } from '../../../src/storage/database-location.ts'
import { connectDatabase } from '../../support/database-connection.ts'
import { sharedDatabase } from '../../support/limits.ts'
import { deepseek, openrouter } from '../support/tool-loop-chat.ts'
import { anthropic, gemini } from '../support/tool-loop-native.ts'
import { startLoopProvider } from '../support/tool-loop-provider.ts'
import { withReply, sendTurn, firstMessages, startLoopApp } from '../support/tool-loop.ts'

const wires = { anthropic, gemini, deepseek, openrouter }

describe.each(Object.entries(wires))('the provider state of %s', (_, protocol) => {
  test('survives a restart of the gateway', async () => {
    using provider = startLoopProvider(protocol)
    const { location } = await sharedDatabase()
    let messages = firstMessages()
    for (let turn = 0; turn < 3; turn++) {
      await using app = await startLoopApp({ acme: [protocol, provider] }, location)
      const reply = await sendTurn(app, messages)
      messages = withReply(messages, reply)
      expect(reply.warnings).toEqual([])
    }
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'The gate is open.' })
  })

  test('is omitted with a warning once it has expired, and the loop continues', async () => {
    using provider = startLoopProvider(protocol)
    const { location } = await sharedDatabase()
    await using app = await startLoopApp({ acme: [protocol, provider] }, location)
    const first = await sendTurn(app, firstMessages())
    await expire(location)
    const afterFirst = withReply(firstMessages(), first)
    const second = await sendTurn(app, afterFirst)
    const last = await sendTurn(app, withReply(afterFirst, second), { stream: true })
    for (const { warnings } of [second, last])
      expect(warnings).toEqual([expect.stringContaining('not available')])
    expect(last.message.content).toBe('The gate is open.')
    const [lost = ''] = provider.issued
    expect(provider.requests).toHaveLength(3)
    expect(JSON.stringify(provider.requests)).not.toContain(lost)
  })

  test('is never sent for another organization', async () => {
    using provider = startLoopProvider(protocol)
    const shared = await sharedDatabase()
    await using app = await startLoopApp({ acme: [protocol, provider] }, shared.location)
    const key = (await shared.keyOf('other')).authorization.replace('Bearer ', '')
    const messages = withReply(firstMessages(), await sendTurn(app, firstMessages()))
    const foreign = await sendTurn(app, messages, { key })
    expect(foreign.warnings).toEqual([expect.stringContaining('not available')])
    const [ours = ''] = provider.issued
    expect(JSON.stringify(provider.requests[1])).not.toContain(ours)
    await sendTurn(app, messages)
    expect(JSON.stringify(provider.requests[2])).toContain(ours)
  })
})

test('two organizations whose calls have the same id each get their own reasoning back', async () => {
  using provider = startLoopProvider(anthropic)
  const shared = await sharedDatabase()
  await using app = await startLoopApp({ acme: [anthropic, provider] }, shared.location)
  const key = (await shared.keyOf('other')).authorization.replace('Bearer ', '')
  const first = await sendTurn(app, firstMessages())
  const second = await sendTurn(app, firstMessages(), { key })
  expect(second.message.tool_calls).toEqual(first.message.tool_calls ?? [])
  const [ours = '', theirs = ''] = provider.issued
  await sendTurn(app, withReply(firstMessages(), first))
  await sendTurn(app, withReply(firstMessages(), second), { key })
  const [, , ofOurs = {}, ofTheirs = {}] = provider.requests
  expect(textsIn(ofOurs, ours, theirs)).toEqual([true, false])
  expect(textsIn(ofTheirs, ours, theirs)).toEqual([false, true])
})

describe('a tool loop that continues at another provider', () => {
  test.each([
    ['of the same protocol', anthropic, anthropic],
    ['of another protocol', anthropic, gemini],
    ['that wants reasoning back', gemini, deepseek],
    ['that wants details back', deepseek, openrouter],
    ['that signs', openrouter, anthropic],
  ])('%s sends none of the stored state, and completes', async (_, protocol, otherProtocol) => {
    using provider = startLoopProvider(protocol)
    using another = startLoopProvider(otherProtocol)
    await using app = await startLoopApp({ acme: [protocol, provider], other: [otherProtocol, another] })
    let messages = withReply(firstMessages(), await sendTurn(app, firstMessages()))
    const second = await sendTurn(app, messages, { model: 'other/river' })
    messages = withReply(messages, second)
    const last = await sendTurn(app, messages, { model: 'other/river' })
    expect(second.warnings).toEqual([expect.stringContaining('not available')])
    expect(last.message.content).toBe('The gate is open.')
    for (const signature of provider.issued) expect(JSON.stringify(another.requests)).not.toContain(signature)
  })
})

async function expire(location: DatabaseLocation): Promise<void> {
  await using database = await connectDatabase(location)
  const changed = await database.rows('UPDATE provider_state SET expires_at = 1 RETURNING 1')
  expect(changed.length).toBeGreaterThan(0)
}

function textsIn(body: object, ...texts: readonly string[]): boolean[] {
  return texts.map((text) => JSON.stringify(body).includes(text))
}
