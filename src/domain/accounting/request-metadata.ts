import { fieldsOf, type Json, parseJson } from '../../lib/json/json.ts'
import { jsonExceeds } from '../../lib/json/json-size.ts'
import { isStorable } from '../../lib/text.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { Usage } from '../generation/events.ts'

/** The APIs that requests come in by. */
const apis = ['chat', 'responses', 'messages', 'completions', 'embeddings'] as const
export type Api = (typeof apis)[number]

/** A request as it is known before its response; stored with its usage. */
export type RequestMetadata = {
  readonly id: string
  /** The id of the organization. */
  readonly organization: string
  /** The public id of the key. */
  readonly key: string
  /** The id of the project that the key has at the time of the request; absent for a key without one. */
  readonly project?: string | undefined
  /** Milliseconds since 1970: the time in its id, so that both identify one usage row. */
  readonly createdAt: number
  readonly api: Api
  /** The slug; absent if the request names no existing model. */
  readonly model?: string
  /** The model as the request names it, if that is not the slug; only for the log. */
  readonly requestedModel?: string
  readonly stream: boolean
  readonly performanceMode?: string
  readonly user?: string | undefined
  /** The session that the client names. */
  readonly session?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly trace?: Json
  /** The content of the request is kept: its key has a content log. */
  readonly contentLog?: true | undefined
}

/** Parses stored metadata; undefined if it is damaged, or belongs to another request or organization. */
export function readRequestMetadata(
  json: string,
  organization: string,
  id?: string,
): RequestMetadata | undefined {
  const metadata = fieldsOf(parseJson(json)) as Partial<RequestMetadata>
  const complete =
    typeof metadata.id === 'string' &&
    typeof metadata.key === 'string' &&
    typeof metadata.createdAt === 'number' &&
    apis.some((api) => api === metadata.api) &&
    typeof metadata.stream === 'boolean'
  if (!complete || metadata.organization !== organization || (id ?? metadata.id) !== metadata.id)
    return undefined
  return metadata as RequestMetadata
}

/** The stored characters of a user or a session, and the stored bytes of `trace` as JSON. */
const maxLabelCharacters = 256
const maxTraceBytes = 4096

/** Cuts a label to its stored length, and replaces what the databases cannot store by U+FFFD. */
export function storedLabel(label: string, maxCharacters = maxLabelCharacters): string {
  const text = isStorable(label) ? label : label.toWellFormed().replaceAll('\0', '\ufffd')
  if (text.length <= maxCharacters) return text
  // By code points, so that no character is split; each has at most two units.
  return Array.from(text.slice(0, 2 * maxCharacters))
    .slice(0, maxCharacters)
    .join('')
}

/** The fields that a trace loses if it is too large, in this order; its id, of at most 256 characters, stays. */
const droppable = ['metadata', 'source', 'name', 'parent_span_id', 'span_id']

/** Removes fields of `trace` until it fits the stored size. */
export function storedTrace(trace: Json): Json {
  let stored = trace
  for (const name of droppable) {
    if (!jsonExceeds(stored, maxTraceBytes)) return stored
    stored = Object.fromEntries(Object.entries(fieldsOf(stored)).filter(([other]) => other !== name)) as Json
  }
  return stored
}

/** How a request ended, with its usage and cost. */
export type Outcome = {
  /** Absent if no provider was reached, like everything that a provider reports. */
  readonly provider?: string
  readonly upstreamModel?: string
  readonly usage?: Usage & { readonly estimated: boolean }
  /** Absent if the model has no price. */
  readonly cost?: Nanos
  /** Milliseconds from the request to the end of its reply. */
  readonly latency?: number
  /** Milliseconds from the request to the first token of its stream. */
  readonly firstToken?: number
  /** The status of the reply; 499 if the client disconnected before it, 0 if the process died and it is unknown. */
  readonly status: number
  /** The code of the error, also of one in the middle of a stream. */
  readonly error?: string
  /**
   * The process died before the end: the cost is an estimate, and the provider may have finished the request. Budgets hold
   * the rest of its reservation.
   */
  readonly costUnknown?: true
  readonly details?: RequestDetails | undefined
  /** What the request asked and what was answered, as JSON; absent unless it is to be kept. Only the content log has it. */
  readonly content?: string | undefined
}

/** Details of a request that failed, was tried several times or has warnings. They never quote the prompt. */
export type RequestDetails = {
  /** The error message. */
  readonly message?: string | undefined
  /** The message of the provider, without anything of the request. */
  readonly provider_message?: string | undefined
  /** The parameter that was wrong. */
  readonly param?: string | undefined
  readonly attempts?: readonly AttemptDetails[] | undefined
  readonly warnings?: readonly string[] | undefined
}

/** One call to a provider. */
export type AttemptDetails = {
  readonly provider: string
  /** The provider's name of the model. */
  readonly model: string
  /** `ok`, `circuit_open`, or the code of the error. */
  readonly outcome: string
  readonly status?: number | undefined
  readonly ms: number
  readonly message?: string | undefined
  readonly provider_message?: string | undefined
}
