import type { FinishReason, GenerationEvent, ToolCall } from './events.ts'
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

type OpenChoice = { text: string; reasoning: string; toolCalls: ToolCall[]; finish: FinishReason | null }

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
    case 'finish':
      choice.finish = event.reason
  }
}
