import type { SseEvent } from '../../../lib/sse.ts'

/** The fields that every event of the live requests has. */
type RequestNames = {
  readonly request: string
  readonly organization: string | null
  readonly key: string | null
  readonly api: string | null
  readonly model: string | null
}

/** How a request has ended, as the last event has it. */
export type LiveEnd = {
  readonly elapsed_ms: number
  readonly status: number
  readonly error: string | null
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost_usd: string | null
}

type EndEventData = RequestNames & LiveEnd & { readonly provider: string | null }

type LiveEventData = RequestNames &
  Partial<EndEventData> & {
    /** Of `dropped`. */
    readonly events?: number
  }

/** A request to a model, in progress or finished. */
export type LiveRequest = RequestNames & {
  /** Identifies the row: clients see the ID of a request, and this page cannot rely on it being unique. */
  readonly sequence: number
  readonly provider: string | null
  /** When it began, on the clock of `performance.now()`. */
  readonly startedAt: number
  readonly firstTokenMs: number | null
  /** It waits for a slot of its provider. */
  readonly queued: boolean
  readonly end: LiveEnd | null
}

/** Whether a request has failed. */
export function hasFailed({ end }: LiveRequest): boolean {
  return end !== null && end.status >= 400
}

/** The milliseconds that a request has taken until now, or until its end. */
export function elapsedOf({ end, startedAt }: LiveRequest, now = performance.now()): number {
  return end?.elapsed_ms ?? Math.max(0, now - startedAt)
}

/** The most finished requests that are kept, and the most in progress: older ones are forgotten. */
const maxFinished = 500
const maxOpen = 2000

/** The requests of the stream: those in progress, and the last ones that have finished. */
export class LiveFeed {
  readonly #open = new Map<string, LiveRequest>()
  readonly #finished: LiveRequest[] = []
  #sequence = 0
  #dropped = 0

  /** How many requests are in progress. */
  get open(): number {
    return this.#open.size
  }

  /** How many events the gateway has dropped because this page was too slow. */
  get dropped(): number {
    return this.#dropped
  }

  /** Forgets the requests in progress: a new connection begins with those that still are. */
  restart(): void {
    this.#open.clear()
  }

  apply({ event, data }: SseEvent, now = performance.now()): void {
    if (data === '') return
    const parsed = JSON.parse(data) as LiveEventData
    if (event === 'start') this.#start(parsed, now)
    else if (event === 'queued' || event === 'dequeued') this.#queue(parsed, event === 'queued')
    else if (event === 'first_token') this.#firstToken(parsed)
    else if (event === 'end') this.#end(parsed as EndEventData, now)
    else if (event === 'dropped') this.#dropped += parsed.events ?? 0
  }

  /** The requests as they are now: first those in progress, each from new to old. */
  rows(): readonly LiveRequest[] {
    return [...[...this.#open.values()].toReversed(), ...this.#finished.toReversed()]
  }

  #start(data: LiveEventData, now: number): void {
    this.#open.set(data.request, this.#begin(data, now))
    const [oldest] = this.#open.keys()
    if (this.#open.size > maxOpen && oldest !== undefined) this.#open.delete(oldest)
  }

  #queue({ request, provider = null }: LiveEventData, queued: boolean): void {
    const known = this.#open.get(request)
    if (known) this.#open.set(request, { ...known, provider, queued })
  }

  #firstToken({ request, provider = null, elapsed_ms }: LiveEventData): void {
    const known = this.#open.get(request)
    if (known) this.#open.set(request, { ...known, provider, firstTokenMs: elapsed_ms ?? null })
  }

  /** A request that was rejected before it reached a model has no start. */
  #end(end: EndEventData, now: number): void {
    const begun = this.#open.get(end.request) ?? this.#begin(end, now)
    this.#open.delete(end.request)
    this.#finished.push({ ...begun, provider: end.provider ?? begun.provider, end })
    if (this.#finished.length > maxFinished) this.#finished.shift()
  }

  #begin(
    { request, organization, key, api, model, provider, elapsed_ms }: LiveEventData,
    now: number,
  ): LiveRequest {
    return {
      sequence: this.#sequence++,
      request,
      organization,
      key,
      api,
      model,
      provider: provider ?? null,
      startedAt: now - (elapsed_ms ?? 0),
      firstTokenMs: null,
      queued: false,
      end: null,
    }
  }
}
