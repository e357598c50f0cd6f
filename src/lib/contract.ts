import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidJson } from './errors.ts'
import { explain } from './explain.ts'

/** A schema that values from elsewhere must keep. */
export type Contract<Output> = {
  /** The value, as it is; throws the error that the caller will read. */
  read(value: unknown): Output
  readonly schema: TSchema
}

/** Compiles the schema once. */
export function contract<const Schema extends TSchema>(schema: Schema): Contract<Static<Schema>> {
  const validator = Compile(schema)
  function read(value: unknown): Static<Schema> {
    // Of all that a body can be, only none at all is undefined.
    if (value === undefined) throw invalidJson()
    // The compiled check has just proved the type.
    if (validator.Check(value)) return value as Static<Schema>
    throw explain(schema, value)
  }
  return { read, schema }
}
