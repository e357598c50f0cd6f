import type { Format } from '../../../domain/generation/request.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { quoted } from '../../../lib/validation/problem.ts'
import { type Fields, isObject } from '../../../lib/json/json.ts'

/** Lowers `text.format`, where the schema is a sibling of its name. */
export function lowerFormat(
  format: (Fields & { readonly type: string }) | null | undefined,
): Format | undefined {
  if (format == null) return undefined
  switch (format.type) {
    case 'text':
    case 'json_object':
      return { type: format.type }
    case 'json_schema':
      return lowerSchema(format)
    default:
      throw unknownFormat(format.type)
  }
}

function lowerSchema({ name, schema, strict, description }: Fields): Format {
  if (typeof name !== 'string') throw missingField('name', 'a string')
  if (!isObject(schema)) throw missingField('schema', 'an object')
  return {
    type: 'json_schema',
    name,
    schema,
    strict: typeof strict === 'boolean' ? strict : undefined,
    description: typeof description === 'string' ? description : undefined,
  }
}

function missingField(field: string, kind: string) {
  const path = `text.format.${field}`
  const message = `Missing required parameter: '${path}'. With type 'json_schema' it must be ${kind}.`
  return badRequest(message, 'missing_required_parameter', path)
}

function unknownFormat(type: string) {
  const message = `Invalid 'text.format.type': must be one of 'text', 'json_object' or 'json_schema', not ${quoted(type)}.`
  return badRequest(message, 'invalid_value', 'text.format.type')
}
