import type { GenerationEvent, ServedTier, Usage } from '../../domain/generation/events.ts'
import { type Generation, totalChoices } from '../../domain/generation/request.ts'
import { monotonicNow } from '../../lib/time.ts'
import type { ModelRoute } from '../models/model.ts'
import { clampUsage, maxAnswerTokens, type MeteredRequest } from './cost-bound.ts'
import { estimatePromptTokens, estimateTokens, isEmptyPrompt } from './estimate.ts'
import { withLongWrites } from './price.ts'
import { conservativePromptTokens, maxPromptTokens } from './prompt-tokens.ts'
import { UnfinishedAnswer } from './unfinished-answer.ts'

export type MeteredUsage = Usage & { readonly estimated: boolean }

/** The warning beside estimated token counts. */
export const estimatedUsageWarning = 'The provider reported no usage; the token counts are estimated.'

/** No call uses more tokens: a higher count is a mistake of the provider, and is ignored. */
const maxTokens = 1_000_000_000

/** A shorter answer shows how long the prompt took, and not how fast the answer was generated. */
const minMeasuredTokens = 256

function isPlausible({ promptTokens, completionTokens }: Usage): boolean {
  return promptTokens + completionTokens <= maxTokens
}

/**
 * Counts what a request uses while its events pass: the tokens, the service tier that served it, and its times. It knows
 * at any moment what the request costs if it ends now.
 */
export class Meter {
  readonly #request: MeteredRequest
  readonly #now: () => number
  readonly #startedAt: number
  #unfinished: UnfinishedAnswer
  /** The generation as it was sent, with the provider states of earlier turns. */
  #sent: Generation
  readonly #abandoned: MeteredUsage[] = []
  #attempt: 'none' | 'sent' | 'accepted' = 'none'
  #route: ModelRoute | undefined
  /** The speed of the route where it is known, and when the request was sent to it. */
  #routeSpeed: number | undefined
  #sentAt: number | undefined
  #firstToken: number | undefined
  #reported: Usage | undefined
  #tier: ServedTier | undefined
  #finished = false
  /** The number of choices that have ended, and whether the usage came with or after the last of them. */
  #endedChoices = 0
  #usageIsFinal = false
  #textLength = 0
  #reasoningLength = 0

  constructor(request: MeteredRequest, now = monotonicNow) {
    this.#request = request
    this.#sent = request.generation
    this.#now = now
    this.#startedAt = now()
    this.#unfinished = new UnfinishedAnswer(request, now)
  }

  /** A route of this speed is tried. It is the one that serves the request, unless another one follows. */
  routeChosen(route: ModelRoute, tokensPerSecond?: number): void {
    this.#route = route
    this.#routeSpeed = tokensPerSecond
  }

  /** The request is sent to the provider, as this generation. */
  requestSent(generation: Generation): void {
    this.#sent = generation
    this.#attempt = 'sent'
    this.#sentAt = this.#now()
    this.#unfinished.requestSent(this.#routeSpeed)
  }

  /** The provider has accepted the request. */
  accepted(): void {
    this.#attempt = 'accepted'
    this.#unfinished.accepted()
  }

  /**
   * The attempt has failed, and no other is in flight. One that the caller has ended with a timeout costs what one costs
   * that the caller cancels: the provider may charge for it.
   */
  attemptFailed(endedByCaller = false): void {
    if (endedByCaller && this.isBillable()) this.#abandoned.push(this.#partialUsage(undefined))
    if (this.#attempt === 'sent') this.#attempt = 'none'
    this.#unfinished.attemptFailed()
  }

  /** The answer so far is void, and another one follows: what it has used is not counted. */
  restart(): void {
    this.#attempt = 'none'
    this.#unfinished = new UnfinishedAnswer(this.#request, this.#now)
    this.#firstToken = undefined
    this.#reported = undefined
    this.#tier = undefined
    this.#finished = false
    this.#endedChoices = 0
    this.#usageIsFinal = false
    this.#textLength = 0
    this.#reasoningLength = 0
  }

  add(batch: readonly GenerationEvent[]): void {
    this.#firstToken ??= this.#now() - this.#startedAt
    this.#unfinished.add(batch)
    for (const event of batch) this.#addEvent(event)
  }

  /** The caller does not keep up: from now on the provider generates output that is not read. */
  readerPaused(): void {
    this.#unfinished.readerPaused()
  }

  /** The characters of the output up to now. */
  outputLength(): number {
    return this.#textLength + this.#reasoningLength
  }

  /** Whether the provider may charge for the request: it has responded, or holds the request. */
  isBillable(): boolean {
    return this.#firstToken !== undefined || this.#attempt !== 'none'
  }

  /** Whether what was generated is known from the usage alone: the output is complete, or has begun after reasoning that was not seen. */
  awaitsUsage(): boolean {
    if (this.#usageIsFinal || this.#finished) return false
    return this.#hasAllEndings() || (!this.#reported?.reasoningTokens && this.#unfinished.hidesReasoning())
  }

  /** The tokens per second of one choice of a complete answer; undefined for one that is too short to show it. */
  speed(): number | undefined {
    const { generation, model } = this.#request
    if (!this.#finished || this.#reported === undefined || this.#sentAt === undefined) return undefined
    const { completionTokens } = clampUsage(this.#reported, this.#sent, model)
    const tokens = completionTokens / totalChoices(generation)
    return tokens < minMeasuredTokens ? undefined : (tokens * 1000) / (this.#now() - this.#sentAt)
  }

  /**
   * The count of the provider, else an estimate. A caller who has cancelled also pays for what the provider
   * may have generated up to now.
   */
  usage(cancelled = false): MeteredUsage {
    const reported = this.#reported && clampUsage(this.#reported, this.#sent, this.#request.model)
    if (cancelled && !this.#finished && !this.#usageIsFinal) return this.#partialUsage(reported)
    const completionTokens = estimateTokens(this.outputLength())
    // Before the end, the provider's counts cover only the beginning of the answer.
    const complete =
      this.#finished || this.#usageIsFinal || (reported?.completionTokens ?? 0) >= completionTokens
    // A provider that reports zero tokens for a prompt has not counted it.
    if (reported && complete && (reported.promptTokens > 0 || isEmptyPrompt(this.#sent)))
      return { ...reported, estimated: false }
    const promptTokens = reported?.promptTokens || estimatePromptTokens(this.#sent)
    const reasoningTokens = estimateTokens(this.#reasoningLength)
    const estimate = complete ? { promptTokens } : { promptTokens, completionTokens }
    const usage = reported
      ? { ...reported, ...estimate }
      : { promptTokens, completionTokens, reasoningTokens }
    // The text may be longer than what was generated: some providers repeat the prompt in it.
    return { ...clampUsage(usage, this.#sent, this.#request.model), estimated: true }
  }

  /** The counts of the provider where they exceed what the request could use; undefined where they do not. */
  implausibleUsage(): Usage | undefined {
    const reported = this.#reported
    return reported && clampUsage(reported, this.#sent, this.#request.model) !== reported
      ? reported
      : undefined
  }

  /** The usage of the attempts that the caller has ended, beside that of the answer. */
  abandoned(): readonly MeteredUsage[] {
    return this.#abandoned
  }

  /** The service tier as the provider named it. */
  tier(): ServedTier | undefined {
    return this.#tier
  }

  route(): ModelRoute | undefined {
    return this.#route
  }

  /** Milliseconds since the meter was created. */
  elapsed(): number {
    return this.#now() - this.#startedAt
  }

  /** Milliseconds from the creation of the meter to the first batch; undefined before it. */
  timeToFirstToken(): number | undefined {
    return this.#firstToken
  }

  /** An estimate for a cancelled call: never more than what was reserved. */
  #partialUsage(reported: Usage | undefined): MeteredUsage {
    const { generation, model } = this.#request
    const promptTokens =
      reported?.promptTokens ||
      Math.min(conservativePromptTokens(this.#sent, model), maxPromptTokens(this.#sent, model))
    const generated = Math.max(this.#unfinished.tokens(), reported?.completionTokens ?? 0)
    const completionTokens = Math.min(Math.ceil(generated), maxAnswerTokens(generation, model))
    const reasoningTokens = reported?.reasoningTokens ?? estimateTokens(this.#reasoningLength)
    return {
      ...reported,
      promptTokens,
      completionTokens,
      reasoningTokens: Math.min(reasoningTokens, completionTokens),
      estimated: true,
    }
  }

  #hasAllEndings(): boolean {
    return this.#endedChoices >= totalChoices(this.#request.generation)
  }

  #addEvent(event: GenerationEvent): void {
    if (event.type === 'text') this.#textLength += event.text.length
    else if (event.type === 'reasoning') this.#reasoningLength += event.text.length
    else if (event.type === 'usage') this.#addUsage(event.usage)
    else if (event.type === 'finish') this.#finished = true
    else if (event.type === 'ending') this.#endedChoices += 1
    else if (event.type === 'tier') this.#tier = event.tier
    // By its fragments, so that a tool call that is cut off counts, too.
    else if (event.type === 'tool-call-begin') this.#textLength += event.name.length
    else if (event.type === 'tool-call-delta') this.#textLength += event.arguments.length
  }

  #addUsage(usage: Usage): void {
    this.#reported = isPlausible(usage) ? withLongWrites(usage, this.#sent) : undefined
    this.#usageIsFinal = this.#hasAllEndings()
  }
}
