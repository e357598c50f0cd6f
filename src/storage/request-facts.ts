import type { Json } from '../lib/json.ts'

/** The interface that a request came by. */
export type Api = 'chat' | 'responses'

/** What is known of a request before its answer, kept with its usage. */
export type RequestFacts = {
  readonly id: string
  /** The id of the organization. */
  readonly organization: string
  /** The public id of the key. */
  readonly key: string
  /** Milliseconds since 1970: the time that its id tells, whoever enters it. With the id it makes the request one row. */
  readonly createdAt: number
  readonly api: Api
  /** The slug; absent where the request names no model that exists. */
  readonly model?: string
  /** The model as the request names it, where that is not its slug; for the log alone. */
  readonly requestedModel?: string
  readonly stream: boolean
  readonly performanceMode?: string
  readonly user?: string
  readonly tags?: readonly string[]
  readonly trace?: Json
}
