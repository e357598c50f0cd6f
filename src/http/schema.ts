import { type Static, type TSchema, type TSchemaOptions, type TStringOptions, Type } from 'typebox'
import { badRequest } from '../lib/errors/errors.ts'
import type { Fields } from '../lib/json/json.ts'
import { jsonExceeds } from '../lib/json/json-size.ts'
import { isStorable, storablePattern, storableRule } from '../lib/text.ts'

/** An object with string keys and any values. */
export const FreeObject = Type.Unsafe<Fields>({ type: 'object' })

/** A property that may be absent or null, which mean the same; the options have its description and its default. */
export function nullish<Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) {
  return Type.Optional(Type.Union([schema, Type.Null()], options))
}

/** A string that is one of these values. */
export function stringEnum<const Values extends readonly string[]>(
  values: Values,
  options: TSchemaOptions = {},
) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: values, ...options })
}

/** A text with a description, in a reply. */
export function text(description: string) {
  return Type.String({ description })
}

/** A text that may be null, with a description. */
export function textOrNull(description: string) {
  return Type.Union([Type.String(), Type.Null()], { description })
}

/** A whole number of at least 0, with a description. */
export function count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

/** The field that names the type of an object. */
export function objectType<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: 'The type of the object.' })
}

/** A text by which rows are found or grouped, such as a label or a name. */
export function storableText(options: TStringOptions = {}) {
  return Type.String({ ...options, pattern: storablePattern })
}

const maxKeys = 512
const maxKibibytes = 64

/** The limits of metadata, for the descriptions of its properties. */
export const metadataLimits = `At most ${maxKeys} keys and ${maxKibibytes} KiB as JSON.`

/** The metadata that a client attaches to a request: an object with string keys and any values. */
export const Metadata = Type.Unsafe<Fields>({
  type: 'object',
  maxProperties: maxKeys,
  description: `An object with any values. ${metadataLimits}`,
})

export type Tags = Static<typeof Tags>
/** Labels by which a client groups its usage. */
export const Tags = Type.Array(storableText({ maxLength: 128 }), { maxItems: 32 })

const traceId = Type.String({ minLength: 1, maxLength: 256 })

export type TraceContext = Static<typeof TraceContext>
/** The position of the request in a trace of the client. */
export const TraceContext = Type.Object(
  {
    id: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'The ID of the trace. 1 to 256 characters.',
    }),
    span_id: nullish(traceId, { description: 'The ID of the span of this request. 1 to 256 characters.' }),
    parent_span_id: nullish(traceId, { description: 'The ID of the parent span. 1 to 256 characters.' }),
    name: nullish(Type.String({ maxLength: 256 }), {
      description: 'The name of the trace or span. At most 256 characters.',
    }),
    source: nullish(Type.String({ maxLength: 256 }), {
      description: 'The application or service that sends the request. At most 256 characters.',
    }),
    metadata: nullish(Metadata, {
      description: `Further properties of the trace, with any values. ${metadataLimits}`,
    }),
  },
  { additionalProperties: false, title: 'TraceContext' },
)

/** The properties of a request by which its usage is reported. */
export const labelFields = {
  tags: nullish(Tags, {
    description: 'Labels for usage reports. At most 32 tags, each with at most 128 characters.',
  }),
  trace: nullish(TraceContext, {
    description: 'The position of the request in a trace of your application.',
  }),
}

/** How the tokens of a chat completion or a response are chosen. */
export const samplingFields = {
  temperature: nullish(Type.Number({ minimum: 0, maximum: 2 }), {
    description:
      'The sampling temperature, from 0 to 2. Higher values make the output more random. Defaults to that of the model.',
  }),
  top_p: nullish(Type.Number({ minimum: 0, maximum: 1 }), {
    description:
      'Nucleus sampling, from 0 to 1: only the tokens with this total probability are considered. ' +
      'Defaults to that of the model.',
  }),
}

/** The model of a request, for the APIs that accept its name without the author. */
export const modelField = Type.String({
  description: 'The model: its slug, an alias, or its name without the author where that is unambiguous.',
})

/** The body of every error. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'What is wrong, and how to fix it, for people.' }),
      type: Type.String({ description: 'The category of the error, such as `invalid_request_error`.' }),
      param: Type.Union([Type.String(), Type.Null()], {
        description: 'The path of the field that caused the error, such as `messages[0].content`.',
      }),
      code: Type.Union([Type.String(), Type.Null()], {
        description: 'The error code, for programs, such as `rate_limit_exceeded`.',
      }),
    }),
  },
  { title: 'Error' },
)

type WithMetadata = {
  readonly metadata?: Fields | null
  readonly trace?: { readonly metadata?: Fields | null } | null
}

/** Throws 400 for metadata that is too large as JSON or whose keys cannot be stored, which no schema can express. */
export function checkMetadata({ metadata, trace }: WithMetadata): void {
  check(metadata, 'metadata')
  check(trace?.metadata, 'trace.metadata')
}

function check(metadata: Fields | null | undefined, param: string): void {
  checkSize(metadata, param)
  if (Object.keys(metadata ?? {}).every(isStorable)) return
  throw badRequest(`Invalid '${param}': each key must ${storableRule}.`, 'invalid_value', param)
}

function checkSize(metadata: Fields | null | undefined, param: string): void {
  if (metadata == null || !jsonExceeds(metadata, maxKibibytes * 1024)) return
  const message = `Invalid '${param}': must be at most ${maxKibibytes} KiB as JSON.`
  throw badRequest(message, 'object_too_large', param)
}
