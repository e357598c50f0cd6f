import type { FinishReason, GenerationEvent, Usage } from '../../domain/generation/events.ts'
import { type Parameter, parameters } from '../../domain/generation/parameters.ts'
import type { Generation, Message, Tool } from '../../domain/generation/request.ts'
import type { AbortLike } from '../../lib/abort.ts'
import { randomText } from '../../lib/id.ts'
import { isObject } from '../../lib/json/json.ts'
import { nextTurn } from '../../lib/time.ts'
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
  const reply = await composeReply(generation)
  const choices = generation.choices ?? 1
  for (let choice = 0; choice < choices; choice++) {
    for await (const text of piecesOf(reply.reasoning, signal)) yield [{ type: 'reasoning', choice, text }]
    for await (const text of piecesOf(reply.text, signal)) yield [{ type: 'text', choice, text }]
    if (reply.tool) yield* toolCallEvents(choice, reply.tool, signal)
    yield [{ type: 'finish', choice, reason: reply.finish }]
  }
  yield [{ type: 'usage', usage: await usageOf(generation, reply, choices) }]
}

type SampleCall = { readonly name: string; readonly arguments: string }

async function* toolCallEvents(
  choice: number,
  sampleCall: SampleCall,
  signal: AbortLike,
): AsyncGenerator<readonly GenerationEvent[]> {
  const call = { id: `call_${randomText(24)}`, ...sampleCall }
  yield [{ type: 'tool-call-begin', choice, index: 0, id: call.id, name: call.name }]
  for await (const piece of piecesOf(call.arguments, signal))
    yield [{ type: 'tool-call-delta', choice, index: 0, arguments: piece }]
  yield [{ type: 'tool-call', choice, index: 0, call }]
}

type Reply = {
  readonly reasoning: string
  readonly text: string
  readonly tool?: SampleCall
  readonly finish: FinishReason
}

/** Composes the reply within the limit of tokens, which the reasoning uses first. */
async function composeReply(generation: Generation): Promise<Reply> {
  const { effort, maxTokens = Number.POSITIVE_INFINITY } = generation
  const fullReasoning =
    effort && effort !== 'none' ? `I was asked to reason with ${effort} effort, so I repeat.` : ''
  const reasoning = await firstWords(fullReasoning, maxTokens)
  const remaining = maxTokens - (await countWords(reasoning))
  const forced = forcedTool(generation)
  if (forced && remaining > 0)
    return { reasoning, text: '', tool: sampleCallFor(forced, generation), finish: 'tool_calls' }
  const fullText = forced ? '' : beforeStop(contentFor(generation), generation.stop ?? [])
  const text = await firstWords(fullText, remaining)
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

async function firstWords(text: string, count: number): Promise<string> {
  if (count === Number.POSITIVE_INFINITY) return text
  let [end, words] = [0, 0]
  for await (const word of wordsOf(text)) {
    if (++words > count) break
    end += word.length
  }
  return text.slice(0, end)
}

async function countWords(text: string): Promise<number> {
  let words = 0
  for await (const _ of wordsOf(text)) words += 1
  return words
}

/** Words that are sent one by one. After them, several are one event: a million events would take minutes. */
const maxSingleWords = 4096
const wordsOfPiece = 256

/** The text in pieces, of which the first ones are single words; throws once the signal aborts. */
async function* piecesOf(text: string, signal: AbortLike): AsyncGenerator<string, void> {
  let [piece, words] = ['', 0]
  for await (const word of wordsOf(text)) {
    if (signal.aborted) throw signal.reason
    piece += word
    words += 1
    if (words > maxSingleWords && words % wordsOfPiece > 0) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** Words after which other requests have their turn: they take about a millisecond. */
const wordsOfTurn = 1024

/** The words of a text; joined, they are the text. */
async function* wordsOf(text: string): AsyncGenerator<string, void> {
  let words = 0
  for (const [word] of text.matchAll(/\s*\S+\s*?(?=\s\S|$)|\s+$/g)) {
    if (++words % wordsOfTurn === 0) await nextTurn()
    yield word
  }
}

async function usageOf(generation: Generation, reply: Reply, choices: number): Promise<Usage> {
  const reasoningTokens = (await countWords(reply.reasoning)) * choices
  const textTokens = (await countWords(reply.text + (reply.tool?.arguments ?? ''))) * choices
  let promptTokens = 0
  for (const message of generation.messages) promptTokens += await countWords(textIn(message))
  return { promptTokens, completionTokens: reasoningTokens + textTokens, reasoningTokens }
}
