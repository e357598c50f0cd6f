import type { DocumentDecoration } from 'elysia'
import { type TProperties, type TSchema, Type } from 'typebox'
import type { Contract } from '../../lib/validation/contract.ts'
import { fieldsOf } from '../../lib/json/json.ts'
import { ErrorBody } from '../schema.ts'

/** What a route says of itself in the document of the interface. */
export type Description = {
  readonly tag: Tag
  /** The name of the operation, for clients that are generated. */
  readonly id: string
  readonly summary: string
  /** What the body of the request must keep. */
  readonly body?: Contract<unknown>
  /** The body of a whole reply. */
  readonly reply: TSchema
  /** The media type of the reply, where it is not JSON. */
  readonly mediaType?: string
  /** Where the route can answer with an event stream. */
  readonly frames?: Frames
  /** The parameters in the path by name, a sentence each, in the order of the path. */
  readonly path?: Readonly<Record<string, string>>
  /** The parameters of the query string by name; the sentence of each is the `description` of its schema. */
  readonly query?: TProperties
  readonly errors: readonly ErrorStatus[]
  /** No key is asked for. */
  readonly open?: boolean
}

/** An event stream: what each frame holds, and the words that say what the last one is. */
export type Frames = { readonly schema: TSchema; readonly end: string }

export type Tag = 'Models' | 'Chat' | 'Responses' | 'System'

export type ErrorStatus = keyof typeof errorMeanings

/** The errors of every route that wants a key. */
export const keyedErrors = [401, 403, 429, 500, 503] as const satisfies readonly ErrorStatus[]
/** The errors of every route that also reads a body. */
export const bodyErrors = [400, 408, 413, 415, ...keyedErrors] as const satisfies readonly ErrorStatus[]

const errorMeanings = {
  400: 'The request is not valid, or asks for something that is not supported.',
  401: 'The API key is missing or not valid.',
  402: 'The balance of the organization does not suffice, or its billing is not set up.',
  403: 'The API key has no organization, or this is not for its holder.',
  404: 'What the request names does not exist.',
  408: 'The request body did not come in time.',
  413: 'The request body is too large.',
  415: 'The request body is not plain JSON.',
  429: 'The organization has reached a limit.',
  500: 'Something went wrong inside the gateway.',
  502: 'The provider failed, or has no key.',
  503: 'The gateway cannot serve at the moment.',
} as const

/** The description as a route takes it. */
export function describe(description: Description): DocumentDecoration {
  const { tag, id, summary, open, body, path = {}, query = {} } = description
  const parameters = [
    ...Object.entries(path).map(pathParameter),
    ...Object.entries(query).map(queryParameter),
  ]
  return {
    tags: [tag],
    summary,
    operationId: id,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: jsonOf(body.schema) } }),
    responses: { 200: success(description), ...Object.fromEntries(description.errors.map(errorReply)) },
    ...(open && { security: [] }),
  }
}

function pathParameter([name, description]: [string, string]) {
  return { name, in: 'path' as const, required: true, description, schema: Type.String() }
}

/** An object stands in a query string pair by pair: `name[key]=value`. */
function queryParameter([name, field]: [string, TSchema]) {
  const { description, ...schema } = fieldsOf(field)
  const pairwise = schema.type === 'object' && { style: 'deepObject' as const, explode: true }
  return {
    name,
    in: 'query' as const,
    required: false,
    description: String(description),
    schema,
    ...pairwise,
  }
}

type Reply = NonNullable<DocumentDecoration['responses']>[string]

function success({ reply, mediaType, frames }: Description): Reply {
  if (mediaType !== undefined) return { description: 'Done.', content: { [mediaType]: { schema: reply } } }
  if (frames === undefined) return { description: 'Done.', content: jsonOf(reply) }
  return {
    description: `The whole answer, or frames of it that end with ${frames.end}.`,
    content: { ...jsonOf(reply), 'text/event-stream': { schema: frames.schema } },
  }
}

function errorReply(status: ErrorStatus): [status: string, reply: Reply] {
  return [String(status), { description: errorMeanings[status], content: jsonOf(ErrorBody) }]
}

function jsonOf(schema: TSchema) {
  return { 'application/json': { schema } }
}
