/** The data of an event of `GET /admin/requests`. */
export type LiveEventData = {
  readonly request: string
  readonly time: string
  readonly organization: string | null
  readonly key: string | null
  readonly api: string | null
  readonly model: string | null
  readonly provider?: string | null
  readonly elapsed_ms?: number
  readonly stream?: boolean
  readonly background?: boolean
  readonly status?: number
  readonly error?: string | null
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly cost_usd?: string | null
  /** Of `dropped`. */
  readonly events?: number
}

/** A request to a model, in progress or finished. */
export type LiveRequest = {
  /** Identifies the row: clients see the ID of a request, and this page cannot rely on it being unique. */
  readonly sequence: number
  readonly request: string
  readonly organization: string | null
  readonly key: string | null
  readonly api: string | null
  readonly model: string | null
  readonly provider: string | null
  /** When it began, on the clock of `performance.now()`. */
  readonly startedAt: number
  readonly firstTokenMs: number | null
  readonly end: LiveEnd | null
}

export type LiveEnd = {
  readonly elapsedMs: number
  readonly status: number
  readonly error: string | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: string | null
}

/** Whether a request has failed. */
export function hasFailed({ end }: LiveRequest): boolean {
  return end !== null && end.status >= 400
}

/** The milliseconds that a request has taken until now, or until its end. */
export function elapsedOf({ end, startedAt }: LiveRequest, now = performance.now()): number {
  return end?.elapsedMs ?? Math.max(0, now - startedAt)
}
