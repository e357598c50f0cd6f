import { type Static, type TSchema, Type } from 'typebox'
import type { Fields } from '../lib/json/json.ts'
import { Metadata } from './metadata.ts'

/** An object with string keys and any values. */
export const FreeObject = Type.Unsafe<Fields>({ type: 'object' })

/** A property that may be absent or null, which mean the same. */
export function nullish<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]))
}

/** A string that is one of these values. */
export function stringEnum<const Values extends readonly string[]>(values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: values })
}

export type Tags = Static<typeof Tags>
/** Labels by which a client groups its usage. */
export const Tags = Type.Array(Type.String({ maxLength: 128 }), { maxItems: 32 })

export type TraceContext = Static<typeof TraceContext>
/** The position of the request in a trace of the client. */
export const TraceContext = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 256 }),
    span_id: nullish(Type.String({ minLength: 1, maxLength: 256 })),
    parent_span_id: nullish(Type.String({ minLength: 1, maxLength: 256 })),
    name: nullish(Type.String({ maxLength: 256 })),
    source: nullish(Type.String({ maxLength: 256 })),
    metadata: nullish(Metadata),
  },
  { additionalProperties: false, title: 'TraceContext' },
)

/** The body of every error. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: Type.Union([Type.String(), Type.Null()]),
      code: Type.Union([Type.String(), Type.Null()]),
    }),
  },
  { title: 'Error' },
)
