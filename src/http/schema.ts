import { type Static, type TSchema, type TSchemaOptions, type TStringOptions, Type } from 'typebox'
import type { Fields } from '../lib/json/json.ts'
import { storablePattern } from '../lib/text.ts'
import { Metadata, metadataLimits } from './metadata.ts'

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

/** A text by which rows are found or grouped, such as a label or a name. */
export function storableText(options: TStringOptions = {}) {
  return Type.String({ ...options, pattern: storablePattern })
}

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
