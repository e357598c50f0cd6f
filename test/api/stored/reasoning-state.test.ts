import { describe, expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { sealState } from '../../../src/domain/generation/sealed-state.ts'
import type { Fields } from '../../../src/lib/json/json.ts'
import type { App } from '../../support/app.ts'
import { fixtureReply } from '../../support/messages.ts'
import { createResponse, postResponse, streamResponse } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { deepseek, openrouter } from '../support/tool-loop-chat.ts'
import { anthropic, gemini } from '../support/tool-loop-native.ts'
import { startLoopProvider } from '../support/tool-loop-provider.ts'
import { startLoopApp } from '../support/tool-loop.ts'

const tools = ['read_level', 'open_gate'].map((name) => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: { river: { type: 'string' } } },
}))
const protocols = { anthropic, gemini, deepseek, openrouter }
const ways = Object.keys(protocols).flatMap((name) => [
  [name as keyof typeof protocols, false] as const,
  [name as keyof typeof protocols, true] as const,
])

/** One turn of a client that stores the conversation itself. */
async function turn(app: App, input: readonly object[], stream: boolean): Promise<ResponseObject> {
  const body = {
    model: 'acme/river',
    input,
    tools,
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'medium' },
  }
  if (!stream) return createResponse(app, body)
  const { last, text } = await streamResponse(app, body)
  if (last === undefined) throw new Error(`The stream has no end: ${text}`)
  return last
}

const resultsOf = ({ output }: ResponseObject) =>
  output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output', call_id: item.call_id, output: 'Done: 4 m.' }]
      : [],
  )

describe.each(ways)(
  'a tool loop at %s whose client stores the conversation (streamed: %p)',
  (name, stream) => {
    test('goes on at a gateway that has never seen it, with all reasoning that the provider wants back', async () => {
      const protocol = protocols[name]
      using provider = startLoopProvider(protocol)
      let input: readonly object[] = [{ role: 'user', content: 'Open the gate where the water is high.' }]
      const calls: number[] = []
      for (let count = 0; count < 3; count++) {
        // A new gateway for each turn: what it stores of the turn before is gone.
        await using app = await startLoopApp({ acme: [protocol, provider] }, undefined, {
          function_tools: true,
        })
        const response = await turn(app, input, stream)
        expect(response.warnings).toBeUndefined()
        calls.push(resultsOf(response).length)
        input = [...input, ...response.output, ...resultsOf(response)]
      }
      expect(calls).toEqual([2, 1, 0])
      const last = JSON.stringify(provider.requests[2])
      for (const signature of [...provider.issued].slice(0, 2)) expect(last).toContain(signature)
    })
  },
)

test('reasoning of one provider is not sent to another, and the conversation goes on', async () => {
  using first = startLoopProvider(anthropic)
  using second = startLoopProvider(deepseek)
  const start = { role: 'user', content: 'Open the gate where the water is high.' }
  await using app = await startLoopApp({ acme: [anthropic, first] }, undefined, { function_tools: true })
  const response = await turn(app, [start], false)
  await using other = await startLoopApp({ acme: [deepseek, second], bcme: [anthropic, first] }, undefined, {
    function_tools: true,
  })
  const input = [start, ...response.output, ...resultsOf(response)].map((item) =>
    'encrypted_content' in item ? { ...item, encrypted_content: renamed(item.encrypted_content) } : item,
  )
  await createResponse(other, { model: 'acme/river', input, tools, store: false })
  const [signature = ''] = first.issued
  expect(JSON.stringify(second.requests)).not.toContain(signature)
})

/** The same state, of a provider of another name. */
function renamed(sealed: unknown): string {
  const [prefix, text = ''] = String(sealed).split('.')
  const fields = JSON.parse(Buffer.from(text, 'base64url').toString()) as object
  return `${prefix}.${Buffer.from(JSON.stringify({ ...fields, provider: 'bcme' })).toString('base64url')}`
}

test('a reasoning item without reasoning, bare or in a state that a caller wrote, reaches no provider', async () => {
  await using scenario = await startScenario(fixtureReply('responses', 'text', false), {
    acme: { kind: 'openai', api: 'responses' },
    settings: { compatibility: { function_tools: true } },
  })
  const item = { type: 'reasoning', id: 'rs_1', summary: [] }
  const kept = { ...item, id: 'rs_2', encrypted_content: 'gAAAAB' }
  const text = { ...item, id: 'rs_3', content: [{ type: 'reasoning_text', text: 'It is high.' }] }
  const states = [item, { ...item, content: [] }, { ...item, encrypted_content: '' }, kept, text]
  const sealed = { ...item, encrypted_content: sealState({ provider: 'acme', state: { reasoning: states } }) }
  const call = { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'call_1', output: '4' }
  const input = [{ role: 'user', content: 'How high?' }, item, sealed, call, output, item]
  await createResponse(scenario.app, { input, store: false })
  const sent = scenario.acme.requests[0]?.body.input as readonly Fields[]
  expect(sent.filter(({ type }) => type === 'reasoning')).toEqual([kept, text])
  const onlyBare = await postResponse(scenario.app, { input: [item, item] })
  expect([onlyBare.status, scenario.acme.requests.length]).toEqual([400, 1])
})
