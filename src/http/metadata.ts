import { Type } from 'typebox'
import { badRequest } from '../lib/errors/errors.ts'
import { type Fields, jsonExceeds } from '../lib/json/json.ts'
import { isStorable, storableRule } from '../lib/text.ts'

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
