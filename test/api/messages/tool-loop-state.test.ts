import { describe, expect, test } from 'bun:test'
import { sealState } from '../../../src/domain/generation/sealed-state.ts'
import { chatOutput, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import type { App } from '../../support/app.ts'
import {
  type Block,
  fixtureReply,
  foldEvents,
  messageRequest,
  type ReadMessage,
  readEvents,
  readMessage,
  sendMessage,
} from '../../support/messages.ts'
import { startScenario } from '../../support/scenario.ts'
import { tool } from '../support/message-loop.ts'
import { geminiChat } from '../support/tool-loop-chat.ts'
import { gemini } from '../support/tool-loop-native.ts'
import { startLoopProvider } from '../support/tool-loop-provider.ts'
import { startLoopApp } from '../support/tool-loop.ts'

const tools = ['read_level', 'open_gate'].map((name) => ({ ...tool, name }))
const start = { role: 'user', content: 'Open the gate where the water is high.' }

/** One turn of a client that requests thinking. */
async function turn(app: App, messages: readonly object[], changes: object = {}): Promise<ReadMessage> {
  const thinking = { type: 'enabled', budget_tokens: 2000 }
  const body = { ...messageRequest, max_tokens: 4000, thinking, tools, messages, ...changes }
  const reply = await sendMessage(app, body)
  return 'stream' in changes && changes.stream ? foldEvents(await readEvents(reply)) : readMessage(reply)
}

/** The answer as a client returns it, with the results of its calls. */
function continued({ content }: ReadMessage): readonly object[] {
  const results = content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Done: 4 m.' }))
  return [
    { role: 'assistant', content },
    { role: 'user', content: results },
  ]
}

const protocols = { gemini, geminiChat }
const names = Object.keys(protocols) as (keyof typeof protocols)[]

describe.each(names.flatMap((name) => [false, true].flatMap((stream) => [[name, stream] as const])))(
  'a tool loop of messages at %s (streamed: %p)',
  (name, stream) => {
    test.each(['summarized', 'omitted'])(
      'goes on at a gateway that has never seen it, with thinking %s',
      async (display) => {
        const protocol = protocols[name]
        using provider = startLoopProvider(protocol)
        const thinking = { type: 'enabled', budget_tokens: 2000, display }
        let messages: readonly object[] = [start]
        const calls: number[] = []
        for (let count = 0; count < 3; count++) {
          // A new gateway for each turn: what it stores of the turn before is gone.
          await using app = await startLoopApp({ acme: [protocol, provider] })
          const message = await turn(app, messages, { stream, thinking })
          expect(message.warnings).toBeUndefined()
          calls.push(message.content.filter(({ type }) => type === 'tool_use').length)
          messages = [...messages, ...continued(message)]
        }
        expect(calls).toEqual([2, 1, 0])
        const last = JSON.stringify(provider.requests[2])
        for (const signature of [...provider.issued].slice(0, 2)) expect(last).toContain(signature)
        expect(last).not.toContain('skip_thought_signature_validator')
      },
    )
  },
)

describe('a message of Gemini with signed calls', () => {
  const options = { provider: { kind: 'gemini' } }
  const typesOf = ({ content }: ReadMessage) => content.map(({ type }) => type)

  test.each([false, true])('has thinking before the signed call only, streamed: %p', async (stream) => {
    await using scenario = await startScenario(fixtureReply('gemini', 'parallel-tools', stream), options)
    const message = await turn(scenario.app, [start], { stream, thinking: undefined })
    expect(typesOf(message)).toEqual(['text', 'thinking', 'tool_use', 'tool_use'])
    const [, thinking, call] = message.content as readonly Block[]
    const state = { thoughtSignature: 'c2lnbmF0dXJlIG9mIHR3byBjYWxscw==' }
    const signature = sealState({ provider: 'acme', state, callId: String(call?.id) })
    expect<unknown>(thinking).toEqual({ type: 'thinking', thinking: '', signature })
  })

  test('has no thinking where that is disabled; its own gateway has the signature', async () => {
    using provider = startLoopProvider(gemini)
    await using app = await startLoopApp({ acme: [gemini, provider] })
    const changes = { thinking: { type: 'disabled' } }
    const first = await turn(app, [start], changes)
    expect(typesOf(first)).toEqual(['tool_use', 'tool_use'])
    const second = await turn(app, [start, ...continued(first)], changes)
    expect(second.warnings?.join() ?? '').not.toContain('The reasoning of an earlier tool call')
    const [signature = ''] = provider.issued
    expect(JSON.stringify(provider.requests[1])).toContain(signature)
  })

  test('is continued without a signature that was damaged, or that another provider gave', async () => {
    using provider = startLoopProvider(gemini)
    await using first = await startLoopApp({ acme: [gemini, provider] })
    const message = await turn(first, [start])
    const signatureOf = ({ type, signature }: Block) => (type === 'thinking' ? String(signature) : '')
    const sealed = message.content.map(signatureOf).join('')
    const state = { thoughtSignature: 'c3RvbGVu' }
    const foreign = sealState({ provider: 'bcme', state, callId: String(message.content[1]?.id) })
    for (const signature of [sealed.slice(0, -9), foreign]) {
      await using app = await startLoopApp({ acme: [gemini, provider] })
      const content = message.content.map((block) =>
        block.type === 'thinking' ? { ...block, signature } : block,
      )
      const { warnings } = await turn(app, [start, ...continued({ ...message, content })])
      expect(warnings?.join()).toContain('The reasoning of an earlier tool call is not available')
      const sent = JSON.stringify(provider.requests.at(-1))
      expect(sent).toContain('skip_thought_signature_validator')
      expect(sent).not.toContain('c3RvbGVu')
    }
  })
})

test.each([false, true])(
  'a message of a provider whose calls have no state is as before, streamed: %p',
  async (stream) => {
    const calls = ['call_a7Kp2mQ9', 'call_b7Kp2mQ9'].map((id) => ({ id, name: 'f', arguments: ['{}'] }))
    const output = chatOutput({ reasoning: ['Hm.'], calls, finish: 'tool_calls' })
    const reply = stream ? streamReply(output) : jsonReply(output)
    for (const kind of ['openai-compatible', 'deepseek']) {
      await using scenario = await startScenario(reply, { provider: { kind } })
      const { content } = await turn(scenario.app, [start], { stream })
      expect<unknown>(content).toEqual([
        { type: 'thinking', thinking: 'Hm.', signature: sealState({ provider: 'acme', state: null }) },
        { type: 'text', text: 'It is four metres.' },
        ...calls.map(({ id, name }) => ({ type: 'tool_use', id, name, input: {} })),
      ])
    }
  },
)
