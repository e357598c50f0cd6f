import { fieldsOf, type Json, parseJson } from '../../lib/json/json.ts'
import { jsonExceeds } from '../../lib/json/json-size.ts'

/** The interface that a request came by. */
export type Api = 'chat' | 'responses'

/** What is known of a request before its answer, kept with its usage. */
export type RequestMetadata = {
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

/** The facts of a request as they were stored; undefined where they cannot be read, or are those of another one. */
export function readFacts(json: string, organization: string, id?: string): RequestMetadata | undefined {
  const facts = fieldsOf(parseJson(json)) as Partial<RequestMetadata>
  const whole =
    typeof facts.id === 'string' &&
    typeof facts.key === 'string' &&
    typeof facts.createdAt === 'number' &&
    (facts.api === 'chat' || facts.api === 'responses') &&
    typeof facts.stream === 'boolean'
  if (!whole || facts.organization !== organization || (id ?? facts.id) !== facts.id) return undefined
  return facts as RequestMetadata
}

/** The most characters of `user` that are stored with a request, and the most bytes of its `trace` as JSON. */
export const maxUserCharacters = 256
export const maxTraceBytes = 4096

/** `user` as it is stored: cut behind so many characters. */
export function storedUser(user: string): string {
  if (user.length <= maxUserCharacters) return user
  // By code points, so that no character is cut in two; each takes two units at the most.
  return Array.from(user.slice(0, 2 * maxUserCharacters))
    .slice(0, maxUserCharacters)
    .join('')
}

/** What a trace loses where it is too large, in this order; its id stays, which has 256 characters at most. */
const droppable = ['metadata', 'source', 'name', 'parent_span_id', 'span_id']

/** `trace` as it is stored: without its metadata, and whatever else does not fit. */
export function storedTrace(trace: Json): Json {
  let stored = trace
  for (const name of droppable) {
    if (!jsonExceeds(stored, maxTraceBytes)) return stored
    stored = Object.fromEntries(Object.entries(fieldsOf(stored)).filter(([other]) => other !== name)) as Json
  }
  return stored
}
