import { Type } from 'typebox'
import type { Input } from '../domain/generation/inputs.ts'
import { badRequest } from '../lib/errors/errors.ts'

/** One input or several: texts, or lists of token ids. */
export type InputField = string | readonly string[] | readonly number[] | readonly (readonly number[])[]

/** The schema of such a field; a text has at least `minLength` characters. */
export function inputField(minLength: 0 | 1) {
  const text = Type.String({ minLength })
  const tokenIds = Type.Array(Type.Integer({ minimum: 0, maximum: maxTokenId }), { minItems: 1 })
  return Type.Union([
    text,
    Type.Array(text, { minItems: 1 }),
    tokenIds,
    Type.Array(tokenIds, { minItems: 1 }),
  ])
}

const maxTokenId = 2 ** 31 - 1

/** For one input, and for all of a request: no context window is larger. */
const maxTokenIds = 131_072
const maxTotalTokenIds = 1_000_000

/** The inputs of a valid field, of which there may be `max`; throws the 400 where there are more or they are too long. */
export function toInputs(field: InputField, param: string, max: number): readonly Input[] {
  const inputs = isSingle(field) ? [field] : field
  if (inputs.length > max) throw tooManyItems(param, max, inputs.length)
  let total = 0
  for (const [index, input] of inputs.entries()) {
    if (typeof input === 'string') continue
    total += input.length
    const path = inputs.length === 1 ? param : `${param}[${index}]`
    if (input.length > maxTokenIds) throw tooManyItems(path, maxTokenIds, input.length)
  }
  if (total > maxTotalTokenIds) throw tooManyItems(param, maxTotalTokenIds, total)
  return inputs
}

function isSingle(field: InputField): field is string | readonly number[] {
  return typeof field === 'string' || typeof field[0] === 'number'
}

function tooManyItems(param: string, max: number, count: number): Error {
  const message = `Invalid '${param}': must have at most ${max} items, not ${count}.`
  return badRequest(message, 'array_above_max_length', param)
}
