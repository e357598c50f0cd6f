import type { DocumentDecoration } from 'elysia'
import { type TProperties, type TSchema, Type } from 'typebox'
import { fieldsOf, type JsonObject } from '../lib/json/json.ts'
import type { Validator } from '../lib/validation/validator.ts'
import { ErrorBody } from './schema.ts'

/** The description of a route in the OpenAPI document. */
export type Description = {
  readonly tag: Tag
  /** The operation id, which generated clients use as a name. */
  readonly id: string
  readonly summary: string
  /** The operation in sentences. */
  readonly description: string
  /** The contract of the request body. */
  readonly body?: Validator<unknown>
  /** Valid bodies of requests by name. */
  readonly examples?: Examples
  /** The schema of the reply, if it is not an event stream. */
  readonly reply: TSchema
  /** The media type of the reply, where it is not JSON. */
  readonly mediaType?: string
  /** The route can reply with CSV, too. */
  readonly csv?: boolean
  /** The event stream that the route can reply with. */
  readonly frames?: Frames
  /** The description of each path parameter by its name, in the order of the path. */
  readonly path?: Readonly<Record<string, string>>
  /** The schemas of the query parameters by name; each has a `description`. */
  readonly query?: TProperties
  readonly errors: readonly ErrorStatus[]
  /** The schema of the body of its errors, where it is that of another API. */
  readonly error?: TSchema
  /** The route requires no API key. */
  readonly unauthenticated?: boolean
}

/** Example bodies by name, each with a summary. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: JsonObject }>>

/** An event stream: the schema of its frames, and a description of the last one. */
export type Frames = { readonly schema: TSchema; readonly end: string }

export type Tag =
  | 'Models'
  | 'Chat'
  | 'Responses'
  | 'Messages'
  | 'Completions'
  | 'Embeddings'
  | 'Organization'
  | 'Admin'
  | 'System'

export type ErrorStatus = keyof typeof errorDescriptions

/** The errors of every route behind the guard. */
export const guardErrors = [401, 403, 429, 500, 503] as const satisfies readonly ErrorStatus[]
/** The errors of every route behind the guard that reads a body. */
export const bodyErrors = [400, 408, 413, 415, ...guardErrors] as const satisfies readonly ErrorStatus[]

const errorDescriptions = {
  400: 'The request is invalid, or uses a parameter that is not supported.',
  401: 'The API key is missing or invalid.',
  402: 'The balance or a budget is too low, or the billing of the organization is not configured.',
  403: 'The organization of the API key no longer exists, or the key may not do this.',
  404: 'The resource does not exist.',
  408: 'The request body was not received in time.',
  413: 'The request body is too large.',
  415: 'The request body is multipart or compressed. Only plain JSON is supported.',
  429: 'A rate limit of the organization, the project or the key is exceeded. `Retry-After` has the seconds to wait.',
  500: 'The gateway encountered an internal error.',
  502: 'The provider failed, timed out, or has no API key.',
  503: 'The gateway is shutting down, or something that it requires is unavailable. Try again later.',
} as const

/** A description whose errors follow from what the route reads; `errors` has further ones. */
export type GuardedDescription = Omit<Description, 'tag' | 'errors'> & {
  readonly errors?: readonly ErrorStatus[]
}

/** The errors of a route behind the guard: an invalid query or body is a 400, and a path may name nothing. */
export function errorsOf({ query, path, body, errors = [] }: GuardedDescription): readonly ErrorStatus[] {
  const ofQuery = query === undefined ? [] : ([400] as const)
  const ofPath = path === undefined ? [] : ([404] as const)
  return [...new Set([...errors, ...ofQuery, ...ofPath, ...(body === undefined ? guardErrors : bodyErrors)])]
}

/** The description as the `detail` of an Elysia route; an operation only when the document is requested. */
export function describe(description: Description): DocumentDecoration {
  // Elysia passes details on as they are, and the document is JSON.
  return { toJSON: () => operationOf(description) } as DocumentDecoration
}

function operationOf(description: Description): DocumentDecoration {
  const { tag, id, summary, unauthenticated, path = {}, query = {} } = description
  const parameters = [
    ...Object.entries(path).map(pathParameter),
    ...Object.entries(query).map(queryParameter),
  ]
  return {
    tags: [tag],
    summary,
    description: description.description,
    operationId: id,
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(description),
    responses: {
      200: success(description),
      ...Object.fromEntries(description.errors.map((status) => errorReply(status, description))),
    },
    ...(unauthenticated && { security: [] }),
  }
}

function requestBodyOf({ body, examples }: Description) {
  if (body === undefined) return {}
  const content = { 'application/json': { schema: body.schema, ...(examples && { examples }) } }
  return { requestBody: { required: !body.isOptional, content } }
}

function pathParameter([name, description]: [string, string]) {
  return { name, in: 'path' as const, required: true, description, schema: Type.String() }
}

/** An object is written in a query string pair by pair: `name[key]=value`. */
function queryParameter([name, field]: [string, TSchema]) {
  const { description, ...schema } = fieldsOf(field)
  const deepObject = schema.type === 'object' && { style: 'deepObject' as const, explode: true }
  return {
    name,
    in: 'query' as const,
    required: false,
    description: String(description),
    schema,
    ...deepObject,
  }
}

type Reply = NonNullable<DocumentDecoration['responses']>[string]

function success({ reply, mediaType, csv, frames }: Description): Reply {
  if (mediaType !== undefined) return { description: 'Success.', content: { [mediaType]: { schema: reply } } }
  const asCsv = csv && { 'text/csv': { schema: Type.String() } }
  if (frames === undefined) return { description: 'Success.', content: { ...jsonOf(reply), ...asCsv } }
  return {
    description: `The complete response, or an event stream that ends with ${frames.end}.`,
    content: { ...jsonOf(reply), 'text/event-stream': { schema: frames.schema } },
  }
}

function errorReply(status: ErrorStatus, { error = ErrorBody }: Description): [status: string, reply: Reply] {
  return [String(status), { description: errorDescriptions[status], content: jsonOf(error) }]
}

function jsonOf(schema: TSchema) {
  return { 'application/json': { schema } }
}
