import { describe, expect, test } from 'bun:test'
import { listOf } from '../../../src/lib/json/json.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import {
  anthropicReply,
  messageRequest,
  readMessage,
  sendMessage,
  startAnthropicScenario,
} from '../../support/messages.ts'
import { startScenario } from '../../support/scenario.ts'

const reply = anthropicReply([{ type: 'text', text: 'Hello!' }])
const headers = { 'anthropic-version': '2026-10-21' }

describe('the version of the API that the caller names', () => {
  test('reaches an Anthropic provider, and replaces the one of the gateway', async () => {
    await using scenario = await startAnthropicScenario(reply)
    await readMessage(await sendMessage(scenario.app, messageRequest, { headers }))
    expect(scenario.acme.requests[0]?.headers.get('anthropic-version')).toBe('2026-10-21')
  })

  test('is that of the gateway without one', async () => {
    await using scenario = await startAnthropicScenario(reply)
    await readMessage(await sendMessage(scenario.app, messageRequest))
    expect(scenario.acme.requests[0]?.headers.get('anthropic-version')).toBe('2023-06-01')
  })

  test('does not replace the one that the operator has configured', async () => {
    const provider = { headers: { 'Anthropic-Version': '2023-01-01' } }
    await using scenario = await startAnthropicScenario(reply, { provider })
    await readMessage(await sendMessage(scenario.app, messageRequest, { headers }))
    expect(scenario.acme.requests[0]?.headers.get('anthropic-version')).toBe('2023-01-01')
  })

  test('does not reach a provider of another API', async () => {
    await using scenario = await startScenario(jsonReply())
    await readMessage(await sendMessage(scenario.app, messageRequest, { headers }))
    expect(scenario.acme.requests[0]?.headers.has('anthropic-version')).toBe(false)
  })
})

describe('the attribution of Claude Code', () => {
  const attribution = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=4a1f0;' }
  const instructions = { type: 'text', text: 'You are a coding agent.' }
  const later = { type: 'text', text: 'x-anthropic-billing-header: is a header.' }
  const request = { ...messageRequest, system: [attribution, instructions, later] }

  test('is no part of the prompt of another model, which would find nothing in its cache', async () => {
    await using scenario = await startScenario(jsonReply())
    await readMessage(await sendMessage(scenario.app, request))
    const [sent] = scenario.acme.requests
    const [system] = listOf(sent?.body.messages)
    expect(system).toEqual({ role: 'system', content: [instructions, later] })
  })

  test('does not reach a model of another maker that speaks the same API', async () => {
    await using scenario = await startAnthropicScenario(reply)
    await readMessage(await sendMessage(scenario.app, request))
    expect(scenario.acme.requests[0]?.body.system).toEqual([instructions, later])
  })

  test('stays before Claude', async () => {
    await using scenario = await startAnthropicScenario(reply, {
      model: { routes: [{ provider: 'acme', model: 'claude-sonnet-5' }] },
    })
    await readMessage(await sendMessage(scenario.app, request))
    expect(scenario.acme.requests[0]?.body.system).toEqual(request.system)
  })

  test('alone is no instruction at all', async () => {
    await using scenario = await startScenario(jsonReply())
    await readMessage(await sendMessage(scenario.app, { ...request, system: [attribution] }))
    expect(scenario.acme.requests[0]?.body.messages).toEqual(messageRequest.messages)
  })
})
