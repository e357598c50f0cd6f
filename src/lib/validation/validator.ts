import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidJson } from '../errors/errors.ts'
import { lazy } from '../lazy.ts'
import { nextTurn } from '../time.ts'
import { validationError } from './validation-error.ts'

/** Validates foreign values by a schema. */
export type Validator<Output> = {
  /** Returns the value unchanged; throws the error that the caller receives if it is invalid. */
  read(value: unknown): Output
  readonly schema: TSchema
}

/** The validators that no value was read with yet. */
const unused = new Set<() => unknown>()

/** Compiles the schemas of all validators, one per turn of the event loop, so that no first request has to wait for it. */
export async function compileValidators(): Promise<void> {
  for (const compile of unused) {
    compile()
    await nextTurn()
  }
}

/**
 * Creates a validator. The schema is compiled once: at the first use, or by `compileValidators`, because compiling all of
 * them takes longer than the rest of a start. `check` throws for rules that the schema cannot express.
 */
export function createValidator<const Schema extends TSchema>(
  schema: Schema,
  check: (value: Static<Schema>) => void = () => {},
): Validator<Static<Schema>> {
  const compiled = lazy(() => {
    unused.delete(compiled)
    return Compile(schema)
  })
  unused.add(compiled)

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
