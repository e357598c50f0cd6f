import type { FinishReason, GenerationEvent, ToolCall } from './events.ts'
import { type Fields, isObject, type Json } from '../../lib/json/json.ts'
import type { Usage } from './usage.ts'

/** A complete answer: the sum of the events of a stream. */
export type Answer = {
  readonly choices: readonly AnswerChoice[]
  readonly usage?: Usage
  readonly tier: 'default' | 'priority' | null
}

export type AnswerChoice = {
  readonly text: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  readonly finish: FinishReason | null
  /** In the form of the provider's `logprobs`; absent where it sent none. */
  readonly logprobs?: Fields
}

/** Accumulates the events of a stream into an answer. */
export class AnswerAccumulator {
  readonly #choices: OpenChoice[] = []
  #usage: Usage | undefined
  #tier: Answer['tier'] = null

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
}

const emptyChoice = (): OpenChoice => ({ text: '', reasoning: '', toolCalls: [], finish: null })

function choiceAt(choices: OpenChoice[], index: number): OpenChoice {
  return (choices[index] ??= emptyChoice())
}

function toChoice({ text, reasoning, toolCalls, finish, logprobs }: OpenChoice): AnswerChoice {
  const choice = { text, reasoning, toolCalls, finish }
  return logprobs === undefined ? choice : { ...choice, logprobs: Object.fromEntries(logprobs) }
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
