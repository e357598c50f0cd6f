import {
  type AssistantMessage,
  callsOfModel,
  type ForeignPart,
  type Generation,
  type ImagePart,
  type Input,
  type Message,
  type Part,
  type Tool,
  type ToolMessage,
} from '../../domain/generation/request.ts'
import { type Fields, fieldsBeside, isObject, textOf } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'
import { isOtherData, parseBounded, parsesResults } from '../../providers/protocols/rendering.ts'
import type { Model, ModelRoute } from '../models/model.ts'
import { hasByteForEachToken } from './audio-tokens.ts'
import { conservativeTokens, countImages } from './estimate.ts'

/** The properties of a model on which the token count of a prompt depends. */
export type PromptModel = Pick<Model, 'contextWindow' | 'routes'>

/** The largest context window of today's models, for a model whose own is unknown. */
const defaultContextWindow = 1_000_000

/**
 * How many tokens a text counts as, and what the chat template adds to a request, a message, the tools and
 * each tool.
 */
type TokenWeights = {
  readonly text: (text: string) => number
  readonly request: number
  readonly message: number
  readonly tools: number
  readonly tool: number
  /** The instructions that a provider adds for a tool of its own. */
  readonly providerTool: number
}

const upperBound: TokenWeights = {
  text: Buffer.byteLength,
  request: 64,
  message: 8,
  tools: 512,
  tool: 16,
  providerTool: 4096,
}
const conservative: TokenWeights = {
  text: conservativeTokens,
  request: 8,
  message: 6,
  tools: 350,
  tool: 8,
  providerTool: 700,
}

/** The maximum tokens of the prompt: one for each byte of text, the maximum for everything else. */
export function maxPromptTokens(generation: Generation, model: PromptModel): number {
  return promptTokens(generation, model, upperBound) * callsOfModel(generation)
}

/**
 * The prompt tokens that a caller who leaves is charged when no provider has counted them: a conservative
 * estimate for text, the maximum for everything else.
 */
export function conservativePromptTokens(generation: Generation, model: PromptModel): number {
  return Math.ceil(promptTokens(generation, model, conservative))
}

function promptTokens(generation: Generation, model: PromptModel, weights: TokenWeights): number {
  const { messages, format, extras, inputs = [], suffix } = generation
  let sum = weights.request + countJson(extras, weights) + countTools(generation, weights)
  sum += countOtherFields(generation, weights)
  for (const message of messages) sum += countMessage(message, model, weights)
  if (scalesImages(generation)) sum += countImages(generation) * maxFileTokens(model)
  sum += countResults(messages, weights)
  if (format?.type === 'json_schema') sum += weights.tools + countStrictSchema(format, weights)
  for (const input of inputs) sum += countInput(input, weights)
  if (suffix !== undefined) sum += inputs.length * countInput(suffix, weights)
  return Math.min(sum, (model.contextWindow ?? Number.MAX_SAFE_INTEGER) * Math.max(1, inputs.length))
}

/** Options of the image processors of inference engines: with them, an image may have any number of tokens. */
const imageOptions = nameSet('mm_processor_kwargs max_dynamic_patch min_dynamic_patch')

function scalesImages({ extras }: Generation): boolean {
  for (const name in extras) if (imageOptions.has(name)) return true
  return false
}

/** Some tokenizers mark the beginning and the end of each input and suffix, which counts as that of a message. */
function countInput(input: Input, weights: TokenWeights): number {
  return weights.message + (typeof input === 'string' ? weights.text(input) : input.length)
}

/** The fields of a Messages request that are counted as what they mean, or are no part of the prompt. */
const countedFields = nameSet(
  'model messages system tools tool_choice max_tokens thinking output_config output_format metadata stream',
)

/** A provider that receives the request as the caller wrote it reads the others, such as instructions for a compaction. */
function countOtherFields({ source }: Generation, weights: TokenWeights): number {
  return source?.protocol === 'anthropic' ? countJson(fieldsBeside(countedFields, source.body), weights) : 0
}

/** A provider that receives the tools as the caller wrote them counts all of their fields. */
function countTools({ tools, providerTools = [], source }: Generation, weights: TokenWeights): number {
  if (tools.length + providerTools.length === 0) return 0
  let sum = 0
  for (const tool of tools) sum += countTool(tool, weights)
  const written = countJson(source?.body.tools, weights) + tools.length * weights.tool
  return weights.tools + Math.max(sum, written) + providerTools.length * weights.providerTool
}

function countTool({ name, description, parameters, strict }: Tool, weights: TokenWeights): number {
  const schema = strict === true ? countStrictSchema(parameters, weights) : countJson(parameters, weights)
  return weights.tool + weights.text(name) + weights.text(description ?? '') + schema
}

/** Some protocols exclude further properties of each object in a schema that is enforced. */
function countStrictSchema(schema: unknown, weights: TokenWeights): number {
  const objects = JSON.stringify(schema ?? null).match(/"(?:object|properties)"/g)?.length ?? 0
  return countJson(schema, weights) + objects * weights.text(',"additionalProperties":false')
}

function countMessage(message: Message, model: PromptModel, weights: TokenWeights): number {
  let sum = weights.message + weights.text(message.name ?? '') + countJson(message.extras, weights)
  for (const part of message.parts) sum += countPart(part, model, weights)
  return message.role === 'assistant' ? sum + countToolCalls(message, weights) : sum
}

/**
 * What the results of tools have beside their parts: the id of their call, again in the text beside images and files, and
 * the name of its function, which some protocols repeat with each result.
 */
function countResults(messages: readonly Message[], weights: TokenWeights): number {
  let sum = 0
  let isParsed: boolean | undefined
  const names = new Map<string, string>()
  for (const message of messages) {
    if (message.role === 'assistant') for (const { id, name } of message.toolCalls) names.set(id, name)
    if (message.role !== 'tool') continue
    isParsed ??= parsesResults(messages)
    const mentions = message.parts.some(({ type }) => type !== 'text') ? 2 : 1
    sum += weights.text(message.callId) * mentions + weights.text(names.get(message.callId) ?? '')
    if (isParsed) sum += countGrowth(joinedText(message), weights)
  }
  return sum
}

function countToolCalls({ toolCalls }: AssistantMessage, weights: TokenWeights): number {
  let sum = 0
  for (const { id, name, arguments: text, state } of toolCalls)
    sum +=
      weights.tool +
      weights.text(id) +
      weights.text(name) +
      weights.text(text) +
      countGrowth(text, weights) +
      countJson(state, weights)
  return sum
}

/** The text of a result as one: some protocols join its parts before they parse it. */
function joinedText({ parts }: ToolMessage): string {
  const textIn = (part: Part) => (part.type === 'foreign' ? textOf(part.value.refusal) : undefined)
  return parts.map((part) => (part.type === 'text' ? part.text : (textIn(part) ?? ''))).join('')
}

/**
 * The growth of a text that a protocol takes as JSON and not as text, because numbers are then written without an
 * exponent: `1e20` has 21 digits. Nothing else gets longer when it is parsed and written again.
 */
function countGrowth(text: string, weights: TokenWeights): number {
  if (!/\d[eE]/.test(text)) return 0
  const value = parseBounded(text)
  return value === undefined ? 0 : Math.max(0, countJson(value, weights) - weights.text(text))
}

function countPart(part: Part, model: PromptModel, weights: TokenWeights): number {
  if (part.type === 'foreign') return countForeignPart(part, model, weights)
  const extras = countJson(part.extras, weights)
  return extras + (part.type === 'text' ? weights.text(part.text) : countImage(part, model))
}

function countImage({ url }: ImagePart, model: PromptModel): number {
  return isOtherData(url) ? maxFileTokens(model) : maxImageTokens(model)
}

/** A file may be anything. */
function maxFileTokens({ contextWindow }: PromptModel): number {
  return contextWindow ?? defaultContextWindow
}

/** Text under another name; audio in a format of which no token is less than a byte; or a file. */
function countForeignPart(
  { value, protocol }: ForeignPart,
  model: PromptModel,
  weights: TokenWeights,
): number {
  // Files on their own are lowered to files, but the content of other blocks is sent as it was written.
  if (protocol !== undefined) return countJson(value, weights) + countFiles(value, model)
  if (value.type === 'input_audio' && hasByteForEachToken(value.input_audio))
    return countJson(value, upperBound)
  return textPartTypes.has(value.type) ? countJson(value, weights) : maxFileTokens(model)
}

/** The maximum tokens of the files within a value, at any depth: those with a source other than text, or with an id. */
function countFiles(value: unknown, model: PromptModel): number {
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  if (isObject(value) && isFile(value))
    sum += value.type === 'image' ? maxImageTokens(model) : maxFileTokens(model)
  for (const child of Object.values(value)) sum += countFiles(child, model)
  return sum
}

function isFile({ source, file_id }: Fields): boolean {
  if (typeof file_id === 'string') return true
  return isObject(source) && source.type !== 'text' && source.type !== 'content'
}

const textPartTypes = nameSet('refusal thinking redacted_thinking reasoning output_text input_text')

function countJson(value: unknown, weights: TokenWeights): number {
  return value === undefined || value === null || isEmpty(value) ? 0 : weights.text(JSON.stringify(value))
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const _ in value) return false
  return true
}

const gpt4oMini = 48_169
/** The largest of open models: 12.8 megapixels in patches of 28 by 28. */
const otherMax = 16_384

/** The maximum tokens of an image on any route of the model. */
function maxImageTokens({ routes }: Pick<Model, 'routes'>): number {
  return routes.reduce((max, route) => Math.max(max, maxOnRoute(route)), 0) || otherMax
}

function maxOnRoute({ provider, model }: ModelRoute): number {
  if (model.includes('4o-mini')) return gpt4oMini
  const { kind } = provider
  return ('protocol' in kind ? kind.maxImageTokens?.(model) : undefined) ?? otherMax
}
