import { describe, expect, test } from 'bun:test'
import { fieldsOf, type Fields, listOf } from '../../../src/lib/json/json.ts'
import {
  agentBody,
  type AgentFixture,
  agentNames,
  type AgentVariant,
  readAgentFixture,
} from '../../support/agent-fixture.ts'
import { type App, startApp } from '../../support/app.ts'
import type { AgentPlan } from '../../tools/support/agent-plan.ts'
import {
  type AgentProtocol,
  anthropicAgent,
  chatAgent,
  geminiAgent,
} from '../../tools/support/agent-protocols.ts'
import { type AgentProvider, startAgentProvider } from '../../tools/support/agent-provider.ts'

// The requests of coding agents, in the form in which the programs send them: see test/README.md.

const fixtures = await Promise.all(agentNames.map(readAgentFixture))
const cases = fixtures.flatMap((fixture) =>
  fixture.variants.map((variant) => [`${fixture.program} with ${variant.name}`, fixture, variant] as const),
)
const protocols = [chatAgent, anthropicAgent, geminiAgent]

/** The types of tools that run at their provider, or that only some models know. */
const unsupportedTools = ['web_search', 'tool_search']

function isUnsupported({ tools }: AgentFixture, key: string): boolean {
  return unsupportedTools.includes(String(tools[key]?.type))
}

describe.each(cases)('the requests of %s', (_, fixture, variant) => {
  test.each(protocols.map((protocol) => [protocol.kind, protocol] as const))(
    'reach a model of the kind %s with every tool and result, and its call comes back',
    async (_, protocol) => {
      const call = { name: calledName(functionNames(fixture, variant)), arguments: { input: 'hello' } }
      await using provider = await startAgentProvider(protocol, () => ({ type: 'call', ...call }))
      await using app = await startAgentApp(protocol, provider, variant)
      for (const body of turnsOf(fixture, variant)) {
        const response = await send(app, variant, body)
        const text = await response.text()
        expect([response.status, text]).toEqual([200, expect.stringContaining(endOf(variant))])
        expectCall(text, call.name)
        const received = provider.requests.at(-1) ?? {}
        expect(protocol.tools(received)).toEqual(functionNames(fixture, variant))
        expect(protocol.results(received).map(madeUpTexts)).toEqual(resultsOf(body).map(madeUpTexts))
      }
    },
  )
})

test.each(cases.filter(([, fixture, { tools }]) => tools.some((key) => isUnsupported(fixture, key))))(
  'the requests of %s are rejected with the name of the unsupported tool, unless it is dropped',
  async (_, fixture, variant) => {
    const plan: AgentPlan = () => ({ type: 'text', text: 'Done.' })
    await using provider = await startAgentProvider(chatAgent, plan)
    await using app = await startAgentApp(chatAgent, provider, variant, 'reject')
    const response = await send(app, variant, agentBody(fixture, variant))
    const tool = variant.tools.find((key) => isUnsupported(fixture, key))
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`'${tool}'`)])
    expect(provider.requests).toEqual([])
  },
)

function startAgentApp(
  { kind }: AgentProtocol,
  { url }: AgentProvider,
  { body }: AgentVariant,
  unsupported: 'reject' | 'drop' = 'drop',
): Promise<App> {
  const acme = {
    kind,
    base_url: kind === 'openai-compatible' ? `${url}/v1` : url,
    api_key: 'sk-acme-0123456789',
  }
  const routes = [{ provider: 'acme', model: 'river-1' }]
  const name = String(body.model)
  const model = name.includes('/') ? { slug: name } : { slug: 'acme/river', aliases: [name] }
  return startApp({
    settings: {
      providers: { acme },
      models: [{ ...model, routes, context_window: 200_000, max_output_tokens: 64_000 }],
      compatibility: { function_tools: true },
      unsupported_parameters: unsupported,
      retries: { attempts: 0 },
    },
  })
}

/** Sends a request with the headers of the program and the key of the gateway. */
function send(app: App, { path, headers }: AgentVariant, body: Fields): Promise<Response> {
  const bearer = 'authorization' in headers
  const authorization = bearer ? `Bearer ${app.key}` : null
  const key: Record<string, string> = bearer ? {} : { 'x-api-key': app.key }
  return app.request(path, { body, headers: { ...headers, ...key, authorization } })
}

/** The bodies of a conversation: each ends where the model has the next word. */
function turnsOf(fixture: AgentFixture, variant: AgentVariant): readonly Fields[] {
  const body = agentBody(fixture, variant)
  const { conversation, conversationProperty } = variant
  return conversation.flatMap((item, index) => {
    const next = conversation[index + 1]
    const ends = !isOfModel(item) && (next === undefined || isOfModel(next))
    return ends ? [{ ...body, [conversationProperty]: conversation.slice(0, index + 1) }] : []
  })
}

function isOfModel({ role, type }: Fields): boolean {
  return role === 'assistant' || type === 'function_call' || type === 'custom_tool_call'
}

/** The names of the tools as models know them. */
function functionNames(fixture: AgentFixture, variant: AgentVariant): readonly string[] {
  const offered = variant.tools.filter((key) => !isUnsupported(fixture, key))
  return offered.flatMap((key) => {
    const tool = fixture.tools[key] ?? {}
    if (tool.type !== 'namespace') return [key]
    return listOf(tool.tools).map((inner) => `${key}__${String(fieldsOf(inner).name)}`)
  })
}

/** A tool that the program knows in another form than models, if there is one. */
function calledName(names: readonly string[]): string {
  return names.find((name) => name === 'apply_patch' || name.includes('__')) ?? names.at(-1) ?? ''
}

/** The results in a conversation. */
function resultsOf({ messages, input }: Fields): readonly string[] {
  const blocks = listOf(messages)
    .flatMap((message) => listOf(fieldsOf(message).content))
    .map(fieldsOf)
  const toolMessages = listOf(messages)
    .map(fieldsOf)
    .filter(({ role }) => role === 'tool')
  const results = [...blocks.filter(({ type }) => type === 'tool_result'), ...toolMessages].map(textOfResult)
  const outputs = listOf(input)
    .map(fieldsOf)
    .filter(({ output }) => output !== undefined)
  return [...results, ...outputs.map(({ output }) => output)].map(String)
}

/** The texts of a result without what holds them: Gemini gets an object where the result is one. */
function madeUpTexts(result: string): readonly string[] {
  return result.match(/\w+-\d+/g) ?? []
}

/** A text, or the texts of content parts. */
function textOfResult({ content }: Fields): string {
  return Array.isArray(content) ? content.map((part) => fieldsOf(part).text).join('\n') : String(content)
}

/** The last event of a complete stream. */
function endOf({ path }: AgentVariant): string {
  if (path.startsWith('/v1/chat')) return 'data: [DONE]'
  return path.startsWith('/v1/messages') ? 'event: message_stop' : 'event: response.completed'
}

/** Expects the call in a stream, in the form and under the name that the program knows. */
function expectCall(stream: string, modelName: string): void {
  const [name, namespace] = modelName.split('__').toReversed()
  expect(stream).toContain(`"name":"${name}"`)
  if (name === 'apply_patch') expect(stream).toContain('"type":"custom_tool_call"')
  if (namespace !== undefined) expect(stream).toContain(`"namespace":"${namespace}"`)
}
