import { describe, expect, test } from 'bun:test'
import {
  anthropicReply,
  messageRequest,
  readMessage,
  sendMessage,
  startAnthropicScenario,
} from '../../support/messages.ts'

const thinking = { type: 'thinking', thinking: 'Two gates are shut.', signature: 'c2lnbmF0dXJl' }

const engineFields = { priority: -1, request_id: 'r', RID: 'r' }
const billingFields = {
  billing_policy: { type: 'billing_policy', bill_to: 'user_profile' },
  fallback_credit_token: { token: 't', mode: 'best_effort' },
}

describe('an Anthropic upstream does not receive', () => {
  test('fields that change the price, the model or the prompt, or refer to the account of the gateway', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const extra = {
      speed: 'fast',
      inference_geo: 'us',
      fallbacks: [{}],
      workspace_id: 'w',
      user_profile_id: 'p',
      lora_request: { lora_name: 'a' },
      chat_template: '{{ messages }}{{ messages }}',
      prompt_token_ids: [1],
    }
    const message = await readMessage(await sendMessage(scenario.app, { ...messageRequest, ...extra }))
    for (const name of Object.keys(extra)) {
      expect(scenario.acme.requests[0]?.body).not.toHaveProperty(name)
      expect(message.warnings?.join()).toContain(`\`${name}\``)
    }
  })

  test.each([
    ['by which an engine serves a request before others, or under the name of another one', engineFields],
    ['that say who is billed, or redeem a credit', billingFields],
  ])('fields %s', async (_, extra) => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const message = await readMessage(await sendMessage(scenario.app, { ...messageRequest, ...extra }))
    for (const name of Object.keys(extra)) {
      expect(scenario.acme.requests[0]?.body).not.toHaveProperty(name)
      expect(message.warnings?.join()).toContain(`\`${name}\``)
    }
  })

  test('a file of the account of the gateway, in a block of any type', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const [question] = messageRequest.messages
    for (const role of ['user', 'assistant']) {
      const content = [{ type: 'future_block', source: { type: 'file', file_id: 'file_1' } }]
      const reply = await sendMessage(scenario.app, {
        ...messageRequest,
        messages: [question, { role, content }],
      })
      expect(reply.status).toBe(400)
      expect(await reply.json()).toMatchObject({
        error: { type: 'invalid_request_error', message: expect.stringContaining('does not store files') },
      })
    }
    expect(scenario.acme.requests).toEqual([])
  })

  test.each([
    ['a text block', { type: 'text', text: 'Read it.', file_id: 'file_1' }],
    ['the spelling of Protocol Buffers', { type: 'text', text: 'Read it.', fileId: 'file_1' }],
    ['a list', { type: 'future_block', file_ids: ['file_1'] }],
    [
      'a known source',
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'It.', fileIds: ['file_1'] },
      },
    ],
    [
      'a result',
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'x', FILE_ID: 'f' }] },
    ],
  ])('a file of the account of the gateway, in %s', async (_name, block) => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] }
    const messages = [...messageRequest.messages, use, { role: 'user', content: [block] }]
    const reply = await sendMessage(scenario.app, { ...messageRequest, messages })
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('does not store files')
    expect(scenario.acme.requests).toEqual([])
  })

  test('a skill of the account of the gateway, also to count tokens', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const container = { skills: [{ type: 'custom', skill_id: 'skill_1' }] }
    const body = JSON.stringify({ ...messageRequest, container })
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const reply = await scenario.app.request(path, { method: 'POST', body })
      expect(reply.status).toBe(400)
      expect(await reply.text()).toContain("Unsupported parameter: 'container")
    }
    expect(scenario.acme.requests).toEqual([])
  })

  test('and receives the skills that everyone has', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const container = { skills: [{ type: 'anthropic', skill_id: 'pptx', version: 'latest' }] }
    expect((await sendMessage(scenario.app, { ...messageRequest, container })).status).toBe(200)
    expect(scenario.acme.requests[0]?.body).toMatchObject({ container })
  })

  test('and receives the files that its tools have made, and tool inputs that name a file', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const [question] = messageRequest.messages
    const output = { type: 'bash_code_execution_output', file_id: 'file_1' }
    const result = {
      type: 'bash_code_execution_tool_result',
      tool_use_id: 'a',
      content: { content: [output] },
    }
    const input = { file_id: 'drive_1' }
    const use = { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'open', server_name: 'drive', input }
    const messages = [question, { role: 'assistant', content: [use, result] }, question]
    expect((await sendMessage(scenario.app, { ...messageRequest, messages })).status).toBe(200)
    expect<unknown>(scenario.acme.requests[0]?.body.messages).toEqual(messages)
  })

  test('thinking that the gateway has sealed for another provider', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]))
    const sealed = { ...thinking, signature: 'weir1.eyJwcm92aWRlciI6ImVjaG8iLCJzdGF0ZSI6bnVsbH0' }
    const turn = { role: 'assistant', content: [sealed, { type: 'text', text: 'Four.' }] }
    const only = { role: 'assistant', content: [sealed] }
    const [question] = messageRequest.messages
    await sendMessage(scenario.app, { ...messageRequest, messages: [question, turn, only, question] })
    expect<unknown>(scenario.acme.requests[0]?.body.messages).toEqual([
      question,
      { role: 'assistant', content: [{ type: 'text', text: 'Four.' }] },
      question,
    ])
  })

  test('more tokens than the model generates', async () => {
    const model = { max_output_tokens: 50 }
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]), {
      model,
    })
    const message = await readMessage(await sendMessage(scenario.app))
    expect(scenario.acme.requests[0]?.body.max_tokens).toBe(50)
    expect(message.warnings?.join()).toContain('max_tokens was lowered')
  })

  test('thinking of a model that cannot think', async () => {
    const model = { supported_parameters: ['max_tokens', 'response_format'] }
    await using scenario = await startAnthropicScenario(anthropicReply([{ type: 'text', text: 'It.' }]), {
      model,
    })
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const body = {
      ...messageRequest,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low', format },
    }
    const message = await readMessage(await sendMessage(scenario.app, body))
    const [sent] = scenario.acme.requests
    expect(sent?.body).not.toHaveProperty('thinking')
    expect<unknown>(sent?.body.output_config).toEqual({ format })
    expect(message.warnings?.join()).toContain('`thinking`')
  })
})
