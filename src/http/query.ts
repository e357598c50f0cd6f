import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { createValidator } from '../lib/validation/validator.ts'
import { badRequest } from '../lib/errors/errors.ts'
import { fieldsOf } from '../lib/json/json.ts'

/** The query parameters of a route; each schema has a `description`. */
type Query<Parameters extends TProperties> = {
  readonly parameters: Parameters
  /** Returns their values; throws 400 for an invalid one. Other parameters are ignored. */
  read(request: Request): Static<TObject<Parameters>>
}

/** Compiles the contract of the parameters. The first value of a repeated parameter counts. */
export function defineQuery<const Parameters extends TProperties>(parameters: Parameters): Query<Parameters> {
  const { read } = createValidator(Type.Object(parameters))
  return { parameters, read: (request) => read(readValues(request, parameters)) }
}

/** The name and the value of each `group[name]=value`, in order; a name may have any characters, also brackets. */
export function readPairs(request: Request, group: string): readonly (readonly [string, string])[] {
  return rawPairsOf(request.url)
    .filter(([rawName]) => belongsTo(rawName, group))
    .map(([rawName, rawValue]) => [nameWithin(group, rawName), decoded(rawValue, group)])
}

/** The most values of one list. */
const maxListValues = 100

/** The values of a list, which may be written as `name=value` or `name[]=value`, each any number of times; throws 400. */
export function readList(request: Request, name: string): readonly string[] {
  const values = rawPairsOf(request.url)
    .filter(([rawName]) => [name, `${name}[]`].includes(percentDecoded(rawName) ?? ''))
    .map(([, rawValue]) => decoded(rawValue, name))
  if (values.length <= maxListValues) return values
  throw badRequest(
    `Invalid '${name}': must have at most ${maxListValues} values.`,
    'array_above_max_length',
    name,
  )
}

function readValues(request: Request, parameters: TProperties): Record<string, string | number> {
  const values = new Map<string, string | number>()
  for (const [rawName, rawValue] of rawPairsOf(request.url)) {
    const name = percentDecoded(rawName)
    const schema = name !== undefined && Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (name !== undefined && schema && !values.has(name)) values.set(name, valueOf(schema, name, rawValue))
  }
  return Object.fromEntries(values)
}

/** A value that is not an integer stays text, which the schema then rejects. */
function valueOf(schema: object, name: string, rawValue: string): string | number {
  const text = decoded(rawValue, name)
  return fieldsOf(schema).type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
}

/** Also true where the rest of the name cannot be decoded: then the error names this group. */
function belongsTo(rawName: string, group: string): boolean {
  const name = percentDecoded(rawName) ?? rawName.replace(/%5B/i, '[')
  return name === group || name.startsWith(`${group}[`)
}

function nameWithin(group: string, rawName: string): string {
  const name = decoded(rawName, group)
  if (name.length > group.length + 1 && name.endsWith(']')) return name.slice(group.length + 1, -1)
  throw badRequest(
    `Invalid '${group}': each pair must be written as ${group}[key]=value.`,
    'invalid_value',
    group,
  )
}

function decoded(raw: string, parameter: string): string {
  const text = percentDecoded(raw)
  if (text !== undefined) return text
  const message = `Invalid '${parameter}': must have a valid percent-encoding.`
  throw badRequest(message, 'invalid_value', parameter)
}

/** Decodes percent-encoded UTF-8; undefined where it is not valid. */
function percentDecoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function rawPairsOf(url: string): readonly (readonly [name: string, value: string])[] {
  const start = url.indexOf('?')
  if (start < 0) return []
  const pairs = url.slice(start + 1).split('&')
  return pairs.filter((pair) => pair !== '').map(splitPair)
}

function splitPair(pair: string): readonly [name: string, value: string] {
  const index = pair.indexOf('=')
  return index < 0 ? [pair, ''] : [pair.slice(0, index), pair.slice(index + 1)]
}
