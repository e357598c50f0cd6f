import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidJson } from '../errors/errors.ts'
import { lazy } from '../lazy.ts'
import { validationError } from './validation-error.ts'

/** Validates foreign values by a schema. */
export type Validator<Output> = {
  /** Returns the value unchanged; throws the error that the caller receives if it is invalid. */
  read(value: unknown): Output
  readonly schema: TSchema
}

/**
 * Creates a validator. The schema is compiled at its first use, which takes milliseconds: all of them together would take
 * half the processor time of a start, and 6 MB. `check` throws for rules that the schema cannot express.
 */
export function createValidator<const Schema extends TSchema>(
  schema: Schema,
  check: (value: Static<Schema>) => void = () => {},
): Validator<Static<Schema>> {
  const compiled = lazy(() => Compile(schema))

  function read(value: unknown): Static<Schema> {
    // Parsed JSON is never undefined: the body is empty or not JSON.
    if (value === undefined) throw invalidJson()
    if (!compiled().Check(value)) throw validationError(schema, value)
    // The compiled check has just proved the type.
    check(value as Static<Schema>)
    return value as Static<Schema>
  }
  return { read, schema }
}
