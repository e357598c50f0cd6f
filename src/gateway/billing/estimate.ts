import type { Generation, Input, Message, Part, PastToolCall } from '../../domain/generation/request.ts'
import { type Fields, isObject } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'

/** Characters per token in English text, by the providers' own rule of thumb. */
const charactersPerToken = 4
/** The tokens that the chat template adds to the text of a message. */
const tokensPerMessage = 4
/** A medium size: providers count from 85 to some thousand for an image. */
const tokensPerImage = 800

/** Estimates the tokens of so many characters. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken)
}

/** Estimates the tokens of the prompt, for providers that report no usage. */
export function estimatePromptTokens(generation: Generation): number {
  const { messages, tools } = generation
  const toolLength = sumOf(
    tools,
    ({ name, description = '', parameters }) => name.length + description.length + jsonLength(parameters),
  )
  const messageSum = sumOf(messages, (message) => tokensPerMessage + messageTokens(message))
  return messageSum + estimateTokens(toolLength) + inputTokens(generation)
}

/** Whether the prompt is empty, so that a provider may count zero tokens. */
export function isEmptyPrompt(generation: Generation): boolean {
  const { messages, tools } = generation
  return inputTokens(generation) === 0 && tools.length === 0 && sumOf(messages, messageTokens) === 0
}

/** Each input of a completion has the suffix. */
function inputTokens({ inputs = [], suffix = '' }: Pick<Generation, 'inputs' | 'suffix'>): number {
  const countInput = (input: Input) =>
    typeof input === 'string' ? estimateTokens(input.length) : input.length
  return sumOf(inputs, countInput) + inputs.length * estimateTokens(suffix.length)
}

function messageTokens(message: Message): number {
  const parts = sumOf(message.parts, partTokens)
  return message.role === 'assistant' ? parts + sumOf(message.toolCalls, callTokens) : parts
}

function callTokens({ name, arguments: text, state }: PastToolCall): number {
  return estimateTokens(name.length + text.length + jsonLength(state))
}

function partTokens(part: Part): number {
  if (part.type === 'text') return estimateTokens(part.text.length)
  return part.type === 'image' ? tokensPerImage : estimateTokens(Math.min(jsonLength(part.value), 16_000))
}

function sumOf<Item>(items: readonly Item[], count: (item: Item) => number): number {
  let sum = 0
  for (const item of items) sum += count(item)
  return sum
}

function jsonLength(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length
}

/** The number of images in the prompt, in whatever form they are sent. */
export function countImages(generation: Generation): number {
  return sumOf(generation.messages, ({ parts }) => sumOf(parts, imagesInPart))
}

function imagesInPart(part: Part): number {
  if (part.type === 'foreign') return imagesIn(part.value)
  return part.type === 'image' ? 1 : 0
}

/** Images at any depth: blocks of other protocols have content of their own. */
function imagesIn(value: unknown): number {
  if (Array.isArray(value)) return sumOf(value, imagesIn)
  if (!isObject(value)) return 0
  if (isImage(value)) return 1
  let sum = 0
  for (const name in value) sum += imagesIn(value[name])
  return sum
}

const imageTypes = nameSet('image image_url image_file input_image input_image_url input_image_file')

/** A part that is named for an image, or a file whose data is one. */
function isImage({ type, file_data: data, file_url: url }: Fields): boolean {
  if (typeof type === 'string' && imageTypes.has(type)) return true
  const source = data ?? url
  return typeof source === 'string' && /^data:image\//i.test(source)
}

/**
 * The maximum tokens of a character in ordinary text, by its class; fitted to o200k_base. English comes to
 * somewhat less than twice its tokens, and no kind of text to less than its own: a test checks both.
 */
const letter = 0.45
const rareLetter = 0.75
const capital = 0.8
const digit = 0.85
const symbol = 0.9
const space = 0.15
const newline = 0.5
/** A letter of two bytes in UTF-8 that is common in its language, such as é, ж or ש. */
const commonTwoBytes = 1
/** A character of three bytes in Chinese, Japanese or Korean text, such as 中, あ or 한. */
const commonThreeBytes = 1.5
/** Half of a character that takes two UTF-16 units and four bytes, such as an emoji. */
const surrogate = 2

/** The ranges of the common characters, as pairs of their first and last code. No token is less than a byte of the others. */
const commonRanges = {
  twoBytes: [0xa0, 0x17f, 0x391, 0x3c9, 0x410, 0x451, 0x5d0, 0x5ea, 0x620, 0x64a],
  threeBytes: [0x2010, 0x203f, 0x3000, 0x30ff, 0x4e00, 0x9fff, 0xac00, 0xd7a3, 0xff00, 0xff5e],
}

const asciiWeights = createAsciiWeights()

/** Returns a conservative estimate: roughly the tokens of the least efficient tokenizer, or more. It may be fractional. */
export function conservativeTokens(text: string): number {
  let sum = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    sum += asciiWeights[code] ?? weightBeyondAscii(code)
  }
  return sum
}

function weightBeyondAscii(code: number): number {
  if (code < 0x800) return isIn(commonRanges.twoBytes, code) ? commonTwoBytes : 2
  if (code >= 0xd800 && code <= 0xdfff) return surrogate
  return isIn(commonRanges.threeBytes, code) ? commonThreeBytes : 3
}

function isIn(ranges: readonly number[], code: number): boolean {
  for (let index = 0; index < ranges.length; index += 2)
    if (code >= (ranges[index] ?? 0) && code <= (ranges[index + 1] ?? 0)) return true
  return false
}

function createAsciiWeights(): readonly number[] {
  const all = Array.from({ length: 128 }, () => symbol)
  setWeight(all, 'abcdefghijklmnopqrstuvwxyz', rareLetter)
  setWeight(all, 'acdehilmnorstu', letter)
  setWeight(all, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', capital)
  setWeight(all, '0123456789', digit)
  setWeight(all, ' ', space)
  setWeight(all, '\n', newline)
  return all
}

function setWeight(weights: number[], characters: string, weight: number): void {
  for (const character of characters) weights[character.charCodeAt(0)] = weight
}
