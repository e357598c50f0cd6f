import type { FinishReason, GenerationEvent, ToolCall } from './events.ts'
import { isObject, type Json } from '../../lib/json/json.ts'
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
  readonly logprobs?: Json
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
    const choices = Array.from(this.#choices, (choice) => choice ?? emptyChoice())
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
  logprobs?: Json
}

const emptyChoice = (): OpenChoice => ({ text: '', reasoning: '', toolCalls: [], finish: null })

function choiceAt(choices: OpenChoice[], index: number): OpenChoice {
  return (choices[index] ??= emptyChoice())
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
      choice.logprobs = joinLogprobs(choice.logprobs, event.logprobs)
      return
    case 'finish':
      choice.finish = event.reason
  }
}

/** Appends the lists of the second to those of the first. */
function joinLogprobs(first: Json | undefined, second: Json): Json {
  if (!isObject(first) || !isObject(second)) return second
  const joined: Record<string, Json> = { ...(first as Record<string, Json>) }
  for (const [name, value] of Object.entries(second as Record<string, Json>))
    joined[name] = joinLists(joined[name], value)
  return joined
}

function joinLists(first: Json | undefined, second: Json): Json {
  if (!Array.isArray(second)) return first ?? second
  return Array.isArray(first) ? [...first, ...second] : second
}
