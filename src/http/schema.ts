import { type Static, type TSchema, Type } from 'typebox'
import type { Fields } from '../lib/json/json.ts'
import { Metadata } from './metadata.ts'

/** An object with string keys and any values. */
export const FreeObject = Type.Unsafe<Fields>({ type: 'object' })

/** A field that may be left out, or be null, which says the same. */
export function maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]))
}

/** One of these words. */
export function stringEnum<const Words extends readonly string[]>(list: Words) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: list })
}

export type Tags = Static<typeof Tags>
/** Words that a caller sorts its own usage by. */
export const Tags = Type.Array(Type.String({ maxLength: 128 }), { maxItems: 32 })

export type TraceContext = Static<typeof TraceContext>
/** Where the call stands in a trace of the caller. */
export const TraceContext = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 256 }),
    span_id: maybe(Type.String({ minLength: 1, maxLength: 256 })),
    parent_span_id: maybe(Type.String({ minLength: 1, maxLength: 256 })),
    name: maybe(Type.String({ maxLength: 256 })),
    source: maybe(Type.String({ maxLength: 256 })),
    metadata: maybe(Metadata),
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
