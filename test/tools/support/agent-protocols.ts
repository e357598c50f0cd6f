import { type Fields, fieldsOf, listOf } from '../../../src/lib/json/json.ts'
import type { AgentCall, AgentStep } from './agent-plan.ts'

/** How a provider of one kind receives a conversation with tools, and streams its next step. */
export type AgentProtocol = {
  /** The kind of provider in the settings. */
  readonly kind: string
  /** The names of the tools in a request. */
  tools(body: Fields): readonly string[]
  /** The results of the calls in a request, in their order. */
  results(body: Fields): readonly string[]
  /** The data of the events of a step; `id` is unique. */
  frames(step: AgentStep, id: string): readonly (object | '[DONE]')[]
}

/** The tokens that every step reports. */
export const stepTokens = { input: 100, output: 10 } as const

/** Chat completions of an OpenAI-compatible provider. */
export const chatAgent: AgentProtocol = {
  kind: 'openai-compatible',
  tools: (body) => objectsIn(body.tools).map((tool) => String(fieldsOf(tool.function).name)),
  results: (body) =>
    objectsIn(body.messages)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textIn(content)),
  frames(step, id) {
    const delta =
      step.type === 'text'
        ? { role: 'assistant', content: step.text }
        : { role: 'assistant', tool_calls: [chatCall(step, `call_${id}`)] }
    const finish_reason = step.type === 'text' ? 'stop' : 'tool_calls'
    const usage = { prompt_tokens: stepTokens.input, completion_tokens: stepTokens.output }
    return [
      { choices: [{ index: 0, delta, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason }] },
      { choices: [], usage: { ...usage, total_tokens: stepTokens.input + stepTokens.output } },
      '[DONE]',
    ]
  },
}

function chatCall({ name, arguments: input }: AgentCall, id: string): object {
  return { index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

/** Messages of Anthropic. */
export const anthropicAgent: AgentProtocol = {
  kind: 'anthropic',
  tools: (body) => objectsIn(body.tools).map(({ name }) => String(name)),
  results: (body) =>
    objectsIn(body.messages)
      .flatMap(({ content }) => objectsIn(content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => textIn(content)),
  frames(step, id) {
    const [content_block, delta] =
      step.type === 'text'
        ? [
            { type: 'text', text: '' },
            { type: 'text_delta', text: step.text },
          ]
        : [
            { type: 'tool_use', id: `toolu_${id}`, name: step.name, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(step.arguments) },
          ]
    const stop_reason = step.type === 'text' ? 'end_turn' : 'tool_use'
    const message = { id: `msg_${id}`, usage: { input_tokens: stepTokens.input, output_tokens: 1 } }
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: stepTokens.output } },
      { type: 'message_stop' },
    ]
  },
}

/** Gemini, which gives its calls no ids. */
export const geminiAgent: AgentProtocol = {
  kind: 'gemini',
  tools: (body) =>
    objectsIn(body.tools)
      .flatMap(({ functionDeclarations }) => objectsIn(functionDeclarations))
      .map(({ name }) => String(name)),
  results: (body) =>
    objectsIn(body.contents)
      .flatMap(({ parts }) => objectsIn(parts))
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map(({ functionResponse }) => textsOf(fieldsOf(functionResponse).response)),
  frames(step, id) {
    const part =
      step.type === 'text'
        ? { text: step.text }
        : {
            functionCall: { name: step.name, args: step.arguments },
            thoughtSignature: Buffer.from(id).toString('base64'),
          }
    const usageMetadata = {
      promptTokenCount: stepTokens.input,
      candidatesTokenCount: stepTokens.output,
      totalTokenCount: stepTokens.input + stepTokens.output,
    }
    return [
      {
        candidates: [{ content: { role: 'model', parts: [part] }, index: 0, finishReason: 'STOP' }],
        usageMetadata,
      },
    ]
  },
}

/** A text, or the texts of content parts. */
function textIn(content: unknown): string {
  return typeof content === 'string'
    ? content
    : objectsIn(content)
        .map(({ text }) => text)
        .join('\n')
}

/** All strings in a value. */
function textsOf(value: unknown): string {
  if (typeof value === 'string') return value
  return Object.values(fieldsOf(value)).map(textsOf).join('\n')
}

function objectsIn(list: unknown): readonly Fields[] {
  return listOf(list).map(fieldsOf)
}
