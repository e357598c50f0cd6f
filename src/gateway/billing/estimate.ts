import type { Input } from '../../domain/generation/inputs.ts'
import type { Generation, Message, Part } from '../../domain/generation/request.ts'

/** Characters per token in English text, by the providers' own rule of thumb. */
const charactersPerToken = 4
/** What the chat template adds to the text of a message. */
const tokensPerMessage = 4
/** A medium size: providers count from 85 to some thousand for an image. */
const tokensPerImage = 800

/** Estimates the tokens of so many characters. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken)
}

/** Estimates the tokens of the prompt, for providers that report no usage. */
export function estimatePromptTokens(generation: Generation): number {
  const tools = generation.tools.reduce(
    (sum, tool) => sum + tool.name.length + (tool.description?.length ?? 0) + jsonLength(tool.parameters),
    0,
  )
  const messages = generation.messages.reduce(
    (sum, message) => sum + tokensPerMessage + messageTokens(message),
    0,
  )
  return messages + estimateTokens(tools) + inputTokens(generation.inputs)
}

/** Whether the prompt is empty, so that a provider may count zero tokens. */
export function isEmptyPrompt({ messages, tools, inputs }: Generation): boolean {
  return (
    inputTokens(inputs) === 0 &&
    tools.length === 0 &&
    messages.every((message) => messageTokens(message) === 0)
  )
}

function inputTokens(inputs: readonly Input[] = []): number {
  return inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? estimateTokens(input.length) : input.length),
    0,
  )
}

function messageTokens(message: Message): number {
  const parts = message.parts.reduce((sum, part) => sum + partTokens(part), 0)
  if (message.role !== 'assistant') return parts
  return message.toolCalls.reduce(
    (sum, { name, arguments: text, state }) =>
      sum + estimateTokens(name.length + text.length + jsonLength(state)),
    parts,
  )
}

function partTokens(part: Part): number {
  if (part.type === 'text') return estimateTokens(part.text.length)
  return part.type === 'image' ? tokensPerImage : estimateTokens(Math.min(jsonLength(part.value), 16_000))
}

function jsonLength(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length
}

/** The number of images in the prompt. */
export function countImages(generation: Generation): number {
  return generation.messages.reduce((sum, message) => sum + message.parts.filter(isImage).length, 0)
}

function isImage(part: Part): boolean {
  return part.type === 'image'
}
