import type OpenAI from 'openai'
import type { DatabaseLocation } from '../../../src/storage/database-location.ts'
import type { ProviderSettings } from '../../../src/config/provider-settings.ts'
import type { SettingsFile } from '../../../src/config/settings.ts'
import { openaiClient } from '../../clients/support/openai-client.ts'
import { type App, startApp } from '../../support/app.ts'
import type { LoopProvider, LoopProtocol } from './tool-loop-provider.ts'

export type ChatMessages = OpenAI.ChatCompletionMessageParam[]

/** What the stock client got. */
export type Reply = {
  readonly message: OpenAI.ChatCompletionMessage
  readonly warnings: readonly string[]
  /** All of it as text, to look for what must not be there. */
  readonly text: string
}

/** A gateway with the model `NAME/river` on each of these providers. */
export function startLoopApp(
  providers: Readonly<Record<string, readonly [LoopProtocol, LoopProvider]>>,
  database?: DatabaseLocation,
  compatibility: SettingsFile['compatibility'] = {},
): Promise<App> {
  const names = Object.entries(providers)
  const settings = names.map(([name, [{ kind }, { url }]]): [string, ProviderSettings] => {
    return [name, { kind, base_url: url, api_key: 'sk-provider-0123456789abcdef' }]
  })
  const models = names.map(([name, [{ model }]]) => {
    return { slug: `${name}/river`, routes: [{ provider: name, model }] }
  })
  const retries = { attempts: 0 }
  const settingsFile = { retries, providers: Object.fromEntries(settings), models, compatibility }
  return startApp({ database, settings: settingsFile })
}

/** Sends the conversation with tools through the OpenAI client. */
export async function sendTurn(
  app: App,
  messages: ChatMessages,
  { model = 'acme/river', key, stream = false }: { model?: string; key?: string; stream?: boolean } = {},
): Promise<Reply> {
  const { completions } = openaiClient(app, key === undefined ? {} : { key }).chat
  const params = { model, messages, tools, reasoning_effort: 'medium' } as const
  if (!stream) {
    const completion = await completions.create(params)
    const [choice] = completion.choices
    if (!choice) throw new Error('There is no choice.')
    return { message: choice.message, warnings: warningsIn(completion), text: JSON.stringify(completion) }
  }
  const chunks: object[] = []
  const streaming = completions.stream(params).on('chunk', (chunk) => void chunks.push(chunk))
  const message = await streaming.finalMessage()
  return { message, warnings: chunks.flatMap(warningsIn), text: JSON.stringify(chunks) }
}

/** The conversation with this response and the results of its calls, as a plain client would continue it. */
export function withReply(messages: ChatMessages, { message }: Reply): ChatMessages {
  const { content, tool_calls = [] } = message
  const calls = tool_calls.filter((call) => call.type === 'function')
  const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'Done: 4 m.' }))
  return [...messages, { role: 'assistant', content, tool_calls: calls }, ...results]
}

/** Starts the conversation again. */
export function firstMessages(): ChatMessages {
  return [{ role: 'user', content: 'Open the gate where the water is high.' }]
}

const tools: OpenAI.ChatCompletionTool[] = ['read_level', 'open_gate'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { river: { type: 'string' } } } },
}))

function warningsIn(reply: object): readonly string[] {
  return 'warnings' in reply && Array.isArray(reply.warnings) ? reply.warnings : []
}
