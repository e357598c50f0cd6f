import type {
  AssistantMessage,
  ForeignPart,
  Generation,
  Message,
  Part,
  Tool,
} from '../../domain/generation/request.ts'
import type { Model } from '../models/model.ts'
import { cautiousTokens } from './conservative-tokens.ts'
import { maxImageTokens } from './image-tokens.ts'

/** What is known of the model that takes the prompt. */
export type PromptModel = Pick<Model, 'contextWindow' | 'routes'>

/** The largest context window of today's models, where that of the model is not known. */
const largestWindow = 1_000_000

/** How many tokens a text counts as, and what the chat template adds to a request, a message, its tools and each of them. */
type Measure = {
  readonly text: (text: string) => number
  readonly request: number
  readonly message: number
  readonly tools: number
  readonly tool: number
}

const most: Measure = { text: Buffer.byteLength, request: 64, message: 8, tools: 512, tool: 16 }
const cautious: Measure = { text: cautiousTokens, request: 8, message: 6, tools: 350, tool: 8 }

/** The most tokens that the prompt can be: one for each byte of text, the maximum for all else. */
export function maxPromptTokens(generation: Generation, model: PromptModel): number {
  return promptTokens(generation, model, most)
}

/**
 * What a caller who leaves is charged for a prompt that no provider has counted: as many tokens as its text can
 * ordinarily be, and the maximum for all else.
 */
export function cautiousPromptTokens(generation: Generation, model: PromptModel): number {
  return Math.ceil(promptTokens(generation, model, cautious))
}

function promptTokens(generation: Generation, model: PromptModel, measure: Measure): number {
  const { messages, tools, format, extras } = generation
  let sum = measure.request + ofJson(extras, measure)
  for (const message of messages) sum += ofMessage(message, model, measure)
  for (const tool of tools) sum += ofTool(tool, measure)
  if (tools.length > 0) sum += measure.tools
  if (format?.type === 'json_schema') sum += measure.tools + ofJson(format, measure)
  return Math.min(sum, model.contextWindow ?? Number.MAX_SAFE_INTEGER)
}

function ofTool({ name, description, parameters }: Tool, measure: Measure): number {
  return measure.tool + measure.text(name) + measure.text(description ?? '') + ofJson(parameters, measure)
}

function ofMessage(message: Message, model: PromptModel, measure: Measure): number {
  let sum = measure.message + measure.text(message.name ?? '') + ofJson(message.extras, measure)
  for (const part of message.parts) sum += ofPart(part, model, measure)
  if (message.role === 'tool') return sum + measure.text(message.callId)
  return message.role === 'assistant' ? sum + ofCalls(message, measure) : sum
}

function ofCalls({ toolCalls }: AssistantMessage, measure: Measure): number {
  let sum = 0
  for (const { id, name, arguments: text, state } of toolCalls)
    sum += measure.tool + measure.text(id) + measure.text(name) + measure.text(text) + ofJson(state, measure)
  return sum
}

function ofPart(part: Part, model: PromptModel, measure: Measure): number {
  if (part.type === 'foreign') return ofForeign(part, model, measure)
  const extras = ofJson(part.extras, measure)
  return extras + (part.type === 'text' ? measure.text(part.text) : maxImageTokens(model))
}

/** Text under another name, and audio, of which no token is less than a byte; a file may be anything. */
function ofForeign({ value }: ForeignPart, model: PromptModel, measure: Measure): number {
  if (value.type === 'input_audio') return ofJson(value, most)
  return ofText.has(value.type) ? ofJson(value, measure) : (model.contextWindow ?? largestWindow)
}

const ofText: ReadonlySet<string> = new Set([
  'refusal',
  'thinking',
  'redacted_thinking',
  'reasoning',
  'output_text',
  'input_text',
])

function ofJson(value: unknown, measure: Measure): number {
  return value === undefined || isEmpty(value) ? 0 : measure.text(JSON.stringify(value))
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const _ in value) return false
  return true
}
