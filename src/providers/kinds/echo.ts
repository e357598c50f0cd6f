import type { FinishReason, GenerationEvent, Usage } from '../../domain/generation/events.ts'
import { type Parameter, parameters } from '../../domain/generation/parameters.ts'
import type { Generation, Message, Tool } from '../../domain/generation/request.ts'
import type { AbortLike } from '../../lib/abort.ts'
import { randomText } from '../../lib/id.ts'
import { isObject } from '../../lib/json/json.ts'
import type { LocalKind } from '../provider.ts'
import { fitsSchema, parseShallowJson, sampleOf } from './echo-schema.ts'

/** The kind that needs no network: it streams the last message back, word by word. A word counts as a token. */
export const echo: LocalKind = {
  name: 'echo',
  parameters: new Set<Parameter>(parameters),
  generate: generateReply,
}

async function* generateReply(
  generation: Generation,
  signal: AbortLike,
): AsyncGenerator<readonly GenerationEvent[]> {
  const reply = composeReply(generation)
  const choices = generation.choices ?? 1
  for (let choice = 0; choice < choices; choice++) {
    for (const word of wordsOf(reply.reasoning)) yield [{ type: 'reasoning', choice, text: word }]
    for (const word of wordsOf(reply.text)) {
      if (signal.aborted) throw signal.reason
      yield [{ type: 'text', choice, text: word }]
    }
    if (reply.tool) yield* toolCallEvents(choice, reply.tool, signal)
    yield [{ type: 'finish', choice, reason: reply.finish }]
  }
  yield [{ type: 'usage', usage: usageOf(generation, reply, choices) }]
}

type SampleCall = { readonly name: string; readonly arguments: string }

function* toolCallEvents(
  choice: number,
  sampleCall: SampleCall,
  signal: AbortLike,
): Generator<readonly GenerationEvent[]> {
  const call = { id: `call_${randomText(24)}`, ...sampleCall }
  yield [{ type: 'tool-call-begin', choice, index: 0, id: call.id, name: call.name }]
  for (const word of wordsOf(call.arguments)) {
    if (signal.aborted) throw signal.reason
    yield [{ type: 'tool-call-delta', choice, index: 0, arguments: word }]
  }
  yield [{ type: 'tool-call', choice, index: 0, call }]
}

type Reply = {
  readonly reasoning: string
  readonly text: string
  readonly tool?: SampleCall
  readonly finish: FinishReason
}

/** Composes the reply within the limit of tokens, which the reasoning uses first. */
function composeReply(generation: Generation): Reply {
  const { effort, maxTokens = Number.POSITIVE_INFINITY } = generation
  const fullReasoning =
    effort && effort !== 'none' ? `I was asked to reason with ${effort} effort, so I repeat.` : ''
  const reasoning = firstWords(fullReasoning, maxTokens)
  const remaining = maxTokens - wordsOf(reasoning).length
  const forced = forcedTool(generation)
  if (forced && remaining > 0)
    return { reasoning, text: '', tool: sampleCallFor(forced, generation), finish: 'tool_calls' }
  const fullText = forced ? '' : beforeStop(contentFor(generation), generation.stop ?? [])
  const text = firstWords(fullText, remaining)
  const truncated =
    reasoning !== fullReasoning || text !== fullText || (forced !== undefined && remaining <= 0)
  return { reasoning, text, finish: truncated ? 'length' : 'stop' }
}

function contentFor(generation: Generation): string {
  const input = lastInput(generation.messages)
  switch (generation.format?.type) {
    case 'json_object':
      return isObject(parseShallowJson(input)) ? input : JSON.stringify({ echo: input })
    case 'json_schema': {
      const { schema } = generation.format
      const value = parseShallowJson(input)
      const fits = value !== undefined && fitsSchema(schema, value)
      return fits ? input : JSON.stringify(sampleOf(schema, input))
    }
    default:
      return input
  }
}

function lastInput(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'user') ?? messages.at(-1)
  return last === undefined ? '' : textIn(last)
}

function textIn(message: Message): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : `[${partName(part)}]`)).join(' ')
}

function partName(part: Exclude<Message['parts'][number], { readonly type: 'text' }>): string {
  return part.type === 'image' ? 'image' : part.value.type
}

function forcedTool({ toolChoice, tools }: Generation): Tool | undefined {
  if (toolChoice === 'required') return tools[0]
  return typeof toolChoice === 'object' ? tools.find((tool) => tool.name === toolChoice.name) : undefined
}

function sampleCallFor(tool: Tool, generation: Generation): SampleCall {
  const values = sampleOf({ type: 'object', ...tool.parameters }, lastInput(generation.messages))
  return { name: tool.name, arguments: JSON.stringify(values) }
}

function beforeStop(text: string, stops: readonly string[]): string {
  const positions = stops
    .map((stop) => (stop === '' ? -1 : text.indexOf(stop)))
    .filter((position) => position >= 0)
  return text.slice(0, Math.min(text.length, ...positions))
}

function firstWords(text: string, count: number): string {
  return wordsOf(text).slice(0, Math.max(0, count)).join('')
}

/** The words of a text; joined, they are the text. */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*?(?=\s\S|$)|\s+$/g) ?? []
}

function usageOf(generation: Generation, reply: Reply, choices: number): Usage {
  const reasoningTokens = wordsOf(reply.reasoning).length * choices
  const textTokens = wordsOf(reply.text + (reply.tool?.arguments ?? '')).length * choices
  const promptTokens = generation.messages.reduce((sum, message) => sum + wordsOf(textIn(message)).length, 0)
  return { promptTokens, completionTokens: reasoningTokens + textTokens, reasoningTokens }
}
