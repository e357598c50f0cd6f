import { type Static, Type } from 'typebox'
import { badRequest } from '../lib/errors/errors.ts'
import type { Fields } from '../lib/json/json.ts'
import { jsonExceeds } from '../lib/json/json-size.ts'
import { isStorable, storableRule } from '../lib/text.ts'
import { nullish, storableText } from './schema.ts'

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
