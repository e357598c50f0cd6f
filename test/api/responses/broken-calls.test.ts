import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { chunks, delta } from '../../support/chat-fixtures.ts'
import { breakOff } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'

const tools = [
  { type: 'function', name: 'open_gate', parameters: { type: 'object' } },
  { type: 'custom', name: 'write_log' },
]

// Agents such as Codex execute a call as soon as it is done, whatever its status is.
test.each([
  ['function_call', 'open_gate', '{"river":"El'],
  ['function_call', 'open_gate', '{"river":"Elbe"}'],
  ['custom_tool_call', 'write_log', '{"input":"The gate is'],
])(
  'a %s of %s whose stream breaks behind %s is not done, and in the failed response it is incomplete',
  async (type, name, input) => {
    const received = Promise.withResolvers<void>()
    const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: input } }
    const script = chunks([delta({ role: 'assistant', tool_calls: [call] }), received.promise], breakOff)
    await using upstream = await createUpstream(script)
    await using app = await startApp({
      settings: {
        providers: {
          acme: { kind: 'openai-compatible', base_url: upstream.url, api_key: 'sk-acme-0123456789' },
        },
        models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
        compatibility: { function_tools: true },
        retries: { attempts: 0 },
      },
    })
    const body = { model: 'acme/river', input: 'Open it.', tools, stream: true }
    const response = await app.request('/v1/responses', { body })
    received.resolve()
    const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, json]) =>
      JSON.parse(json ?? ''),
    )
    const types = events.map((event) => event.type)
    expect(types).toContain('response.output_item.added')
    expect(types.filter((type) => type.endsWith('.done'))).toEqual([])
    expect(types.slice(-2)).toEqual(['error', 'response.failed'])
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()])
    expect(events.at(-1).response.output).toMatchObject([{ type, name, status: 'incomplete' }])
  },
)
