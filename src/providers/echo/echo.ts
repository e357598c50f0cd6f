import type { FinishReason, GenerationEvent } from '../../domain/generation/events.ts'
import { type Parameter, parameters } from '../../domain/generation/parameters.ts'
import type { Generation, Message, Tool } from '../../domain/generation/request.ts'
import type { Usage } from '../../domain/generation/usage.ts'
import type { AbortLike } from '../../lib/abort.ts'
import { randomText } from '../../lib/id.ts'
import { isObject } from '../../lib/json/json.ts'
import type { LocalKind } from '../provider.ts'
import { fitsSchema, jsonIn } from './fits-schema.ts'
import { sampleOf } from './sample.ts'

/** The kind that needs no network: it says back what it was told, word by word. A word counts as a token. */
export const echo: LocalKind = {
  name: 'echo',
  parameters: new Set<Parameter>(parameters),
  generate: answer,
}

async function* answer(
  generation: Generation,
  signal: AbortLike,
): AsyncGenerator<readonly GenerationEvent[]> {
  const said = composed(generation)
  const choices = generation.choices ?? 1
  for (let choice = 0; choice < choices; choice++) {
    for (const word of wordsOf(said.reasoning)) yield [{ type: 'reasoning', choice, text: word }]
    for (const word of wordsOf(said.text)) {
      if (signal.aborted) throw signal.reason
      yield [{ type: 'text', choice, text: word }]
    }
    if (said.tool) yield* toolCall(choice, said.tool, signal)
    yield [{ type: 'finish', choice, reason: said.finish }]
  }
  yield [{ type: 'usage', usage: usageOf(generation, said, choices) }]
}

type Called = { readonly name: string; readonly arguments: string }

function* toolCall(choice: number, called: Called, signal: AbortLike): Generator<readonly GenerationEvent[]> {
  const call = { id: `call_${randomText(24)}`, ...called }
  yield [{ type: 'tool-call-begin', choice, index: 0, id: call.id, name: call.name }]
  for (const word of wordsOf(call.arguments)) {
    if (signal.aborted) throw signal.reason
    yield [{ type: 'tool-call-delta', choice, index: 0, arguments: word }]
  }
  yield [{ type: 'tool-call', choice, index: 0, call }]
}

type Composed = {
  readonly reasoning: string
  readonly text: string
  readonly tool?: Called
  readonly finish: FinishReason
}

/** What there is to say, within the limit of tokens: the reasoning takes its share first. */
function composed(generation: Generation): Composed {
  const { effort, maxTokens = Number.POSITIVE_INFINITY } = generation
  const thought =
    effort && effort !== 'none' ? `I was asked to reason with ${effort} effort, so I repeat.` : ''
  const reasoning = firstWords(thought, maxTokens)
  const left = maxTokens - wordsOf(reasoning).length
  const forced = forcedTool(generation)
  if (forced && left > 0)
    return { reasoning, text: '', tool: filledIn(forced, generation), finish: 'tool_calls' }
  const whole = forced ? '' : beforeStop(contentFor(generation), generation.stop ?? [])
  const text = firstWords(whole, left)
  const cut = reasoning !== thought || text !== whole || (forced !== undefined && left <= 0)
  return { reasoning, text, finish: cut ? 'length' : 'stop' }
}

function contentFor(generation: Generation): string {
  const heard = lastHeard(generation.messages)
  switch (generation.format?.type) {
    case 'json_object':
      return isObject(jsonIn(heard)) ? heard : JSON.stringify({ echo: heard })
    case 'json_schema': {
      const { schema } = generation.format
      const value = jsonIn(heard)
      const fits = value !== undefined && fitsSchema(schema, value)
      return fits ? heard : JSON.stringify(sampleOf(schema, heard))
    }
    default:
      return heard
  }
}

function lastHeard(messages: readonly Message[]): string {
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

function filledIn(tool: Tool, generation: Generation): Called {
  const values = sampleOf({ type: 'object', ...tool.parameters }, lastHeard(generation.messages))
  return { name: tool.name, arguments: JSON.stringify(values) }
}

function beforeStop(text: string, stops: readonly string[]): string {
  const places = stops.map((stop) => (stop === '' ? -1 : text.indexOf(stop))).filter((place) => place >= 0)
  return text.slice(0, Math.min(text.length, ...places))
}

function firstWords(text: string, count: number): string {
  return wordsOf(text).slice(0, Math.max(0, count)).join('')
}

/** The words, each with the space behind it. */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*?(?=\s\S|$)|\s+$/g) ?? []
}

function usageOf(generation: Generation, said: Composed, choices: number): Usage {
  const reasoningTokens = wordsOf(said.reasoning).length * choices
  const answered = wordsOf(said.text + (said.tool?.arguments ?? '')).length * choices
  const promptTokens = generation.messages.reduce((sum, message) => sum + wordsOf(textIn(message)).length, 0)
  return { promptTokens, completionTokens: reasoningTokens + answered, reasoningTokens }
}
