import { formatUsd, parseUsd } from '../../lib/usd.ts'
import { decimalText } from '../components/format.ts'
import type { ApiFailure } from './failure.ts'

/** The token counts of an answer. */
export type AnswerUsage = {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

/** A call of a tool that the model asks for. */
export type AnswerToolCall = { readonly name: string; readonly arguments: string }

type ToolCallDelta = Partial<AnswerToolCall> & { readonly index: number }

/** The addition of a part of a stream to an answer. */
export type AnswerDelta = {
  readonly text?: string
  readonly reasoning?: string
  readonly toolCalls?: readonly ToolCallDelta[]
  readonly usage?: AnswerUsage
  readonly finishReason?: string
  readonly provider?: string
  readonly model?: string
  readonly id?: string
  readonly warnings?: readonly string[]
  readonly failure?: ApiFailure
}

/** Whether an answer is still being received, and how it ended. */
type AnswerStatus = 'streaming' | 'finished' | 'stopped' | 'failed'

/**
 * An answer while it is streamed. It changes in place, and reports at most one change for each frame of the screen: a
 * fast model sends many events within one.
 */
export class Answer {
  text = ''
  reasoning = ''
  readonly toolCalls: AnswerToolCall[] = []
  readonly warnings: string[] = []
  status: AnswerStatus = 'streaming'
  usage: AnswerUsage | undefined
  finishReason: string | undefined
  provider: string | undefined
  /** As the gateway names it; the request may have used an alias. */
  model: string | undefined
  id: string | undefined
  requestId: string | undefined
  failure: ApiFailure | undefined
  readonly startedAt: number
  firstTokenAt: number | undefined
  endedAt: number | undefined
  readonly #listeners = new Set<() => void>()
  #scheduled = false

  constructor(startedAt: number) {
    this.startedAt = startedAt
  }

  /** Adds what an event brought, at this time. */
  add(delta: AnswerDelta, now: number): void {
    if (delta.text || delta.reasoning || delta.toolCalls?.length) this.firstTokenAt ??= now
    this.text += delta.text ?? ''
    this.reasoning += delta.reasoning ?? ''
    for (const call of delta.toolCalls ?? []) this.#addToolCall(call)
    this.warnings.push(...(delta.warnings ?? []).filter((warning) => !this.warnings.includes(warning)))
    this.usage = delta.usage ?? this.usage
    this.finishReason = delta.finishReason ?? this.finishReason
    this.provider = delta.provider ?? this.provider
    this.model = delta.model ?? this.model
    this.id = delta.id ?? this.id
    if (delta.failure !== undefined) this.end('failed', now, delta.failure)
    this.changed()
  }

  /** Ends the answer, once. */
  end(status: Exclude<AnswerStatus, 'streaming'>, now: number, failure?: ApiFailure): void {
    if (this.status !== 'streaming') return
    this.status = status
    this.endedAt = now
    this.failure = failure
    this.changed()
  }

  /** Calls the listener once a frame while the answer changes; returns the function that stops it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Schedules one report for all changes until the next frame. */
  changed(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    requestAnimationFrame(() => {
      this.#scheduled = false
      for (const listener of this.#listeners) listener()
    })
  }

  #addToolCall({ index, name = '', arguments: text = '' }: ToolCallDelta): void {
    const call = this.toolCalls[index]
    this.toolCalls[index] = { name: (call?.name ?? '') + name, arguments: (call?.arguments ?? '') + text }
  }
}

/** Prices in USD per million tokens, or per request or image; null where they are unknown. */
export type Prices = Readonly<
  Partial<
    Record<
      'input' | 'output' | 'cache_read' | 'cache_write' | 'input_audio' | 'request' | 'image',
      number | string | null
    >
  >
>

/**
 * The cost of an answer at the listed prices, as an exact decimal text; undefined without prices. A stream does not carry
 * the amount that was charged, which differs for long prompts with a tier of their own, and for cache writes.
 */
export function listedCost(usage: AnswerUsage, prices: Prices | null): string | undefined {
  if (prices === null || (prices.input == null && prices.request == null)) return undefined
  const input = prices.input ?? 0
  const millionths =
    product(usage.input - usage.cached, input) +
    product(usage.cached, prices.cache_read ?? input) +
    product(usage.output, prices.output ?? 0)
  return formatUsd((millionths + 500_000n) / 1_000_000n + toNanos(prices.request ?? 0))
}

function product(tokens: number, price: number | string): bigint {
  return BigInt(tokens) * toNanos(price)
}

function toNanos(dollars: number | string): bigint {
  return parseUsd(decimalText(dollars)) ?? 0n
}
