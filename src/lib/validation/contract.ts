import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidJson } from '../errors/errors.ts'
import { explain } from './explain.ts'

/** A schema that values from elsewhere must keep. */
export type Contract<Output> = {
  /** The value, as it is; throws the error that the caller will read. */
  read(value: unknown): Output
  readonly schema: TSchema
}

/** Compiles the schema once. `check` throws for what the schema cannot say. */
export function contract<const Schema extends TSchema>(
  schema: Schema,
  check: (value: Static<Schema>) => void = () => {},
): Contract<Static<Schema>> {
  const validator = Compile(schema)
  function read(value: unknown): Static<Schema> {
    // Of all that a body can be, only none at all is undefined.
    if (value === undefined) throw invalidJson()
    if (!validator.Check(value)) throw explain(schema, value)
    // The compiled check has just proved the type.
    check(value as Static<Schema>)
    return value as Static<Schema>
  }
  return { read, schema }
}
