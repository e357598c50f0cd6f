import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidJson } from './errors.ts'
import { explain } from './explain.ts'

/** A schema as Elysia takes it (Standard Schema), with the static type of the schema. */
export type Contract<Output> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'typebox'
    readonly validate: (value: unknown) => { readonly value: Output }
    readonly types?: { readonly input: Output; readonly output: Output }
  }
  readonly schema: TSchema
}

/**
 * Compiles the schema once. A value that breaks it throws the error that the caller will read, from inside
 * `validate`: issues returned to Elysia would be wrapped with a print of the whole body.
 */
export function contract<const Schema extends TSchema>(schema: Schema): Contract<Static<Schema>> {
  const validator = Compile(schema)
  const validate = (value: unknown) => {
    // Of all that a body can be, only none at all is undefined.
    if (value === undefined) throw invalidJson()
    // The compiled check has just proved the type.
    if (validator.Check(value)) return { value: value as Static<Schema> }
    throw explain(schema, value)
  }
  return { '~standard': { version: 1, vendor: 'typebox', validate }, schema }
}
