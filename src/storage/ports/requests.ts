import type { Nanos } from '../../lib/usd.ts'

/** The properties by which finished requests are found; those that are present must all apply. */
export type RequestFilters = {
  /** The id. */
  readonly organization?: string | undefined
  /** The id of the project that the key had at the time of the request. */
  readonly project?: string | undefined
  /** The public id. */
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  /** A status such as `502`, or `4xx` for errors of clients, `5xx` for those of the gateway and its providers, or `failed`. */
  readonly status?: string | undefined
  /** The code of an error; `status_` and the status for an error without one. */
  readonly error?: string | undefined
  readonly user?: string | undefined
  readonly session?: string | undefined
}

/** A page of finished requests, the newest first. Times are milliseconds since 1970. */
export type RequestQuery = {
  readonly filters: RequestFilters
  readonly since?: number | undefined
  /** Exclusive. */
  readonly until?: number | undefined
  /** The id of a request, or the `next` of a page: only requests before it. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A finished request, as it was recorded. */
export type FinishedRequest = {
  readonly id: string
  readonly createdAt: number
  /** The name of the organization. */
  readonly organization: string
  readonly organizationId: string
  /** The id of the project that the key had at the time of the request. */
  readonly project: string | null
  readonly projectName: string | null
  readonly key: string
  /** Null if the key does not exist any more. */
  readonly keyName: string | null
  readonly user: string | null
  readonly session: string | null
  /** As JSON, like the trace and the details: see `RequestDetails`. */
  readonly tags: string | null
  readonly trace: string | null
  readonly details: string | null
  readonly api: string
  readonly model: string | null
  readonly provider: string | null
  readonly upstreamModel: string | null
  readonly performanceMode: string | null
  readonly stream: boolean
  readonly status: number
  readonly error: string | null
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly estimated: boolean
  readonly cost: Nanos | null
  readonly latencyMs: number | null
  readonly firstTokenMs: number | null
}

export type RequestPage = {
  readonly items: readonly FinishedRequest[]
  /**
   * Where the next page begins; undefined at the end. Also without items: a page ends after some work, so that a search for
   * what is rare delays no other request.
   */
  readonly next: string | undefined
}

/** Finds finished requests of all organizations, for the operator. */
export type RequestHistory = {
  page(query: RequestQuery): Promise<RequestPage>
  /** Returns the request with this id; undefined if there is none. */
  find(id: string): Promise<FinishedRequest | undefined>
}
