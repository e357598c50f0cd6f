import { type Fields, isObject, type Json } from '../../lib/json/json.ts'
import {
  type Citation,
  detectedError,
  type FinishReason,
  type GenerationEvent,
  type ProviderError,
  type ServedTier,
  type ToolCall,
  type Usage,
} from './events.ts'

/** A complete answer: the sum of the events of a stream. */
export type Answer = {
  readonly choices: readonly AnswerChoice[]
  readonly usage?: Usage
  readonly tier: ServedTier
}

export type AnswerChoice = {
  readonly text: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  readonly finish: FinishReason | null
  /** In the form of the provider's `logprobs`; absent where it sent none. */
  readonly logprobs?: Fields
  /** Absent where the provider sent none. */
  readonly citations?: readonly Citation[]
}

/** Accumulates the events of a stream into an answer. */
export class AnswerAccumulator {
  readonly #choices: OpenChoice[] = []
  #usage: Usage | undefined
  #tier: ServedTier = null

  add(events: readonly GenerationEvent[]): void {
    for (const event of events) this.#addEvent(event)
  }

  answer(): Answer {
    const choices: AnswerChoice[] = []
    // Not `map`, which would leave out a choice of which nothing came.
    for (const choice of this.#choices) choices.push(toChoice(choice ?? emptyChoice()))
    return { choices, usage: this.#usage, tier: this.#tier }
  }

  #addEvent(event: GenerationEvent): void {
    switch (event.type) {
      case 'usage':
        this.#usage = event.usage
        return
      case 'tier':
        this.#tier = event.tier
        return
      case 'failure':
      case 'ending':
      case 'embedding':
        return
      default:
        addToChoice(choiceAt(this.#choices, event.choice), event)
    }
  }
}

type OpenChoice = {
  text: string
  reasoning: string
  toolCalls: ToolCall[]
  finish: FinishReason | null
  /** The fields of the provider's `logprobs`, with the lists of all its chunks. */
  logprobs?: Map<string, unknown>
  citations?: Citation[]
}

const emptyChoice = (): OpenChoice => ({ text: '', reasoning: '', toolCalls: [], finish: null })

function choiceAt(choices: OpenChoice[], index: number): OpenChoice {
  return (choices[index] ??= emptyChoice())
}

function toChoice({ logprobs, citations, ...choice }: OpenChoice): AnswerChoice {
  return {
    ...choice,
    ...(logprobs && { logprobs: Object.fromEntries(logprobs) }),
    ...(citations && { citations }),
  }
}

type ChoiceEvent = Extract<GenerationEvent, { readonly choice: number }>

function addToChoice(choice: OpenChoice, event: ChoiceEvent): void {
  switch (event.type) {
    case 'text':
      choice.text += event.text
      return
    case 'reasoning':
      choice.reasoning += event.text
      return
    case 'tool-call':
      choice.toolCalls.push(event.call)
      return
    case 'logprobs':
      return addLogprobs(choice, event.logprobs)
    case 'citations':
      choice.citations = [...(choice.citations ?? []), ...event.citations]
      return
    case 'finish':
      choice.finish = event.reason
  }
}

/** Appends the lists to those of the choice. */
function addLogprobs(choice: OpenChoice, logprobs: Json): void {
  if (!isObject(logprobs)) return
  const joined = (choice.logprobs ??= new Map<string, unknown>())
  for (const [name, value] of Object.entries(logprobs)) {
    const list = joined.get(name)
    if (!Array.isArray(value)) joined.set(name, list ?? value)
    else if (Array.isArray(list)) for (const item of value) list.push(item)
    else joined.set(name, [...value])
  }
}

/** For all choices of an answer together. No model makes so many calls. */
export const maxToolCalls = 1024

/** Blocks of text and of reasoning that alternate. No model changes so often. */
export const maxBlocks = 8192

/** Blocks that a provider wants back on the next turn; each is copied with those before it. No model has so many. */
export const maxStateBlocks = 2048

/** An answer has more of something than any model generates; it fails like one that cannot be read. */
export class ExcessiveAnswerError extends Error {
  readonly error: ProviderError

  constructor(limit: string) {
    super(`The answer has more than ${limit}.`)
    this.error = detectedError(`its response has more than ${limit}`)
  }
}

/** Throws for the index of a tool call beyond the last one that an answer may have. */
export function requireCallIndex(index: number): void {
  if (index >= maxToolCalls) throw new ExcessiveAnswerError(`${maxToolCalls} tool calls`)
}

/** Returns the blocks of a state with one more; throws for one beyond the last one that a turn may have. */
export function appendBlock<Block>(blocks: readonly Block[], block: Block): readonly Block[] {
  if (blocks.length >= maxStateBlocks) throw new ExcessiveAnswerError(`${maxStateBlocks} blocks of reasoning`)
  return [...blocks, block]
}

/** Counts the tool calls and the blocks of one answer, whatever its protocol. */
export class AnswerLimits {
  #calls = 0
  #blocks = 0
  #block: GenerationEvent['type'] | undefined

  /** Adds these events; throws once they are too many. */
  add(events: readonly GenerationEvent[]): void {
    for (const { type } of events) {
      if (type === 'tool-call-begin') requireCallIndex(this.#calls++)
      if (type === this.#block || !blockTypes.has(type)) continue
      this.#block = type
      if (++this.#blocks > maxBlocks) throw new ExcessiveAnswerError(`${maxBlocks} blocks`)
    }
  }
}

const blockTypes: ReadonlySet<GenerationEvent['type']> = new Set(['text', 'reasoning', 'tool-call-begin'])
