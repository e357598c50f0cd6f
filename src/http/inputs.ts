import { type TSchemaOptions, Type } from 'typebox'
import type { Input } from '../domain/generation/request.ts'
import { type ApiError, badRequest } from '../lib/errors/errors.ts'

/** One input or several: texts, or lists of token ids. */
type InputField = string | readonly string[] | readonly number[] | readonly (readonly number[])[]

/** The schema of such a field; a text has at least `minLength` characters. `toInputs` checks what it cannot express. */
export function inputField(minLength: 0 | 1, options: TSchemaOptions) {
  const text = Type.String({ minLength })
  const tokenIds = Type.Array(Type.Integer({ maximum: Number.MAX_SAFE_INTEGER }))
  const lists = [text, tokenIds.items, tokenIds].map((item) => Type.Array(item, { minItems: 1 }))
  return Type.Unsafe<InputField>(Type.Union([text, ...lists], options))
}

/** For one input, and for all of a request: no context window is larger. */
const maxTokenIds = 131_072
const maxTotalTokenIds = 1_000_000

/** The inputs of a valid field, of which there may be `max`; throws the 400 where there are more or they are too long. */
export function toInputs(field: InputField, param: string, max: number): readonly Input[] {
  if (isSingle(field)) {
    if (typeof field !== 'string') checkTokenIds(field, param)
    return [field]
  }
  if (field.length > max) throw tooManyItems(param, max, field.length)
  let total = 0
  for (const [index, input] of field.entries()) {
    if (typeof input === 'string') continue
    checkTokenIds(input, `${param}[${index}]`)
    total += input.length
  }
  if (total > maxTotalTokenIds) throw tooManyItems(param, maxTotalTokenIds, total)
  return field
}

function isSingle(field: InputField): field is string | readonly number[] {
  return typeof field === 'string' || typeof field[0] === 'number'
}

function checkTokenIds(ids: readonly number[], path: string): void {
  if (ids.length === 0)
    throw badRequest(`Invalid '${path}': must have at least 1 item, not 0.`, 'empty_array', path)
  if (ids.length > maxTokenIds) throw tooManyItems(path, maxTokenIds, ids.length)
  const index = ids.findIndex((id) => id < 0)
  if (index < 0) return
  const where = `${path}[${index}]`
  throw badRequest(
    `Invalid '${where}': must be at least 0, not ${ids[index]}.`,
    'integer_below_min_value',
    where,
  )
}

function tooManyItems(path: string, max: number, count: number): ApiError {
  const message = `Invalid '${path}': must have at most ${max} items, not ${count}.`
  return badRequest(message, 'array_above_max_length', path)
}
