import type { GenerationEvent } from './events.ts'
import type { ProviderError } from './provider-error.ts'

/** For all choices of an answer together. No model makes so many calls. */
export const maxToolCalls = 1024

/** Blocks of text and of reasoning that alternate. No model changes so often. */
export const maxBlocks = 8192

/** An answer has more of something than any model generates; it fails like one that cannot be read. */
export class ExcessiveAnswerError extends Error {
  readonly error: ProviderError

  constructor(limit: string) {
    super(`The answer has more than ${limit}.`)
    this.error = { message: `its response has more than ${limit}`, detected: true }
  }
}

/** Throws for the index of a tool call beyond the last one that an answer may have. */
export function requireCallIndex(index: number): void {
  if (index >= maxToolCalls) throw new ExcessiveAnswerError(`${maxToolCalls} tool calls`)
}

/** Returns the blocks with one more; throws for one beyond the last one that an answer may have. */
export function appendBlock<Block>(blocks: readonly Block[], block: Block): readonly Block[] {
  if (blocks.length >= maxBlocks) throw new ExcessiveAnswerError(`${maxBlocks} blocks`)
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
