import { expect, test } from 'bun:test'
import { fieldsOf } from '../../../src/lib/json/json.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const providerReply = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'It stands at 3 m.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
}

test('a model whose route uses the Responses API is served like any other', async () => {
  const routes = [{ provider: 'acme', model: 'river-pro', api: 'responses' as const }]
  const scripts = [json(providerReply)]
  await using scenario = await startScenario(scripts, { acme: { kind: 'openai' }, model: { routes } })
  const reply = await scenario.app.chat(chatRequest)
  expect(await reply.json()).toMatchObject({
    model: 'acme/river',
    provider: 'acme',
    choices: [{ message: { content: 'It stands at 3 m.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 7 },
  })
  const [request] = scenario.acme.requests
  expect(request?.path).toBe('/v1/responses')
  expect(request?.body).toMatchObject({ model: 'river-pro', store: false })
  expect(request?.body).not.toHaveProperty('messages')
})

test('the Responses API of a provider that has none is rejected at startup', async () => {
  const routes = [{ provider: 'acme', model: 'river', api: 'responses' as const }]
  const starting = startScenario([], { acme: { kind: 'mistral' }, model: { routes } })
  await expect(starting).rejects.toThrow('models[0].routes[0].api')
})

test.each([
  ['openai/gpt-6-luna', 'my-deployment', true],
  ['acme/luna', 'gpt-6-luna', true],
  ['openai/gpt-4o', 'my-deployment', false],
  ['acme/luna', 'my-deployment', false],
])('%s as the deployment %s of Azure: its reasoning is kept is %p', async (slug, deployment, reasons) => {
  const models = [{ slug, routes: [{ provider: 'acme', model: deployment, api: 'responses' as const }] }]
  const scripts = [json(providerReply), json(providerReply)]
  await using scenario = await startScenario(scripts, { acme: { kind: 'azure' }, models })
  const tools = [{ type: 'function', function: { name: 'read_level' } }]
  const reply = await scenario.app.chat({ ...chatRequest, model: slug, tools })
  expect(reply.status).toBe(200)
  const { model, include } = fieldsOf(scenario.acme.requests[0]?.body)
  expect([model, include]).toEqual([deployment, reasons ? ['reasoning.encrypted_content'] : undefined])
  expect(scenario.acme.requests[0]?.body).toHaveProperty('tools')
})

test.each([
  ['gpt-6-luna', undefined],
  ['my-deployment', 0.2],
])('the temperature for the deployment %s at Azure is %p', async (deployment, temperature) => {
  const models = [{ slug: 'acme/luna', routes: [{ provider: 'acme', model: deployment }] }]
  await using scenario = await startScenario([jsonReply()], { acme: { kind: 'azure' }, models })
  expect((await scenario.app.chat({ ...chatRequest, model: 'acme/luna', temperature: 0.2 })).status).toBe(200)
  const sent = fieldsOf(scenario.acme.requests[0]?.body)
  expect([sent.model, sent.temperature]).toEqual([deployment, temperature])
})
