import { AnswerAccumulator } from '../domain/generation/answer.ts'
import type { GenerationEvent } from '../domain/generation/events.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { excerptOf } from '../lib/json/excerpt.ts'

/** In characters, of the request and of the answer each. */
const maxLength = 256 * 1024

/** The memory of a call; returns false for bytes that do not fit. */
type CallMemory = { tryAcquireMemory(bytes: number): boolean }

/**
 * Collects the content of a request whose key has a content log; that of a request that was sent to no provider is not kept. It
 * never reaches a log, a metric or a trace.
 */
export class ContentRecorder {
  readonly #body: object
  readonly #memory: CallMemory
  #answer = new AnswerAccumulator()
  #left = maxLength
  /** The numbers of embeddings are not kept. */
  #embeds = false

  constructor(body: object, memory: CallMemory) {
    this.#body = body
    this.#memory = memory
  }

  add(batch: readonly GenerationEvent[]): void {
    this.#answer.add(batch.flatMap((event) => this.#kept(event)))
  }

  /** The answer so far is void. */
  restart(): void {
    this.#answer = new AnswerAccumulator()
    this.#left = maxLength
  }

  /** Returns the content as JSON, once the call is complete or has failed with this error. */
  print(error: unknown): string {
    const choices = this.#answer.answer().choices.map(({ text, reasoning, toolCalls, finish }) => ({
      text,
      reasoning,
      tool_calls: toolCalls,
      finish_reason: finish,
    }))
    return JSON.stringify({
      request: excerptOf(this.#body, maxLength),
      response: choices.length === 0 || this.#embeds ? null : choices,
      error: error instanceof ApiError ? excerptOf(error.message, maxLength) : null,
    })
  }

  #kept(event: GenerationEvent): readonly GenerationEvent[] {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        return [{ ...event, text: this.#cut(event.text) }]
      case 'tool-call': {
        const { id, name, arguments: text } = event.call
        return [{ ...event, call: { id: this.#cut(id), name: this.#cut(name), arguments: this.#cut(text) } }]
      }
      case 'finish':
        return [event]
      case 'embedding':
        this.#embeds = true
        return []
      default:
        return []
    }
  }

  #cut(text: string): string {
    if (this.#left === 0) return ''
    const kept = this.#memory.tryAcquireMemory(text.length) ? Math.min(text.length, this.#left) : 0
    this.#left = kept < text.length ? 0 : this.#left - kept
    return kept < text.length ? `${text.slice(0, kept).toWellFormed()}… (cut)` : text
  }
}
