import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { contract } from '../lib/validation/contract.ts'
import { badRequest } from '../lib/errors/errors.ts'
import { fieldsOf } from '../lib/json/json.ts'

/** The parameters that a route reads of its query string; each schema has a sentence, its `description`. */
export type Query<Parameters extends TProperties> = {
  readonly parameters: Parameters
  /** Their values; throws the 400 that names the one which is wrong. Other parameters are left alone. */
  read(request: Request): Static<TObject<Parameters>>
}

/** Checks are compiled once. Of a parameter that is given more than once the first counts. */
export function queryOf<const Parameters extends TProperties>(parameters: Parameters): Query<Parameters> {
  const { read } = contract(Type.Object(parameters))
  return { parameters, read: (request) => read(valuesIn(request, parameters)) }
}

/** The name and the value of each `group[name]=value`, in order; a name may hold whatever it likes, brackets too. */
export function pairsIn(request: Request, group: string): readonly (readonly [string, string])[] {
  return rawPairsOf(request.url)
    .filter(([rawName]) => belongsTo(rawName, group))
    .map(([rawName, rawValue]) => [nameWithin(group, rawName), decoded(rawValue, group)])
}

function valuesIn(request: Request, parameters: TProperties): Record<string, string | number> {
  const values = new Map<string, string | number>()
  for (const [rawName, rawValue] of rawPairsOf(request.url)) {
    const name = unescaped(rawName)
    const schema = name !== undefined && Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (name !== undefined && schema && !values.has(name)) values.set(name, valueOf(schema, name, rawValue))
  }
  return Object.fromEntries(values)
}

/** What is no whole number stays text, which the schema then refuses. */
function valueOf(schema: object, name: string, rawValue: string): string | number {
  const text = decoded(rawValue, name)
  return fieldsOf(schema).type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
}

/** Also where the rest of the name cannot be read: then it is this group that is wrong. */
function belongsTo(rawName: string, group: string): boolean {
  const name = unescaped(rawName) ?? rawName.replace(/%5B/i, '[')
  return name === group || name.startsWith(`${group}[`)
}

function nameWithin(group: string, rawName: string): string {
  const name = decoded(rawName, group)
  if (name.length > group.length + 1 && name.endsWith(']')) return name.slice(group.length + 1, -1)
  throw badRequest(`Invalid '${group}': write each pair as ${group}[key]=value.`, 'invalid_value', group)
}

function decoded(raw: string, parameter: string): string {
  const text = unescaped(raw)
  if (text !== undefined) return text
  const message = `Invalid '${parameter}': its percent-encoding cannot be read.`
  throw badRequest(message, 'invalid_value', parameter)
}

/** Undefined for what is not the percent-encoding of UTF-8. */
function unescaped(raw: string): string | undefined {
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
  return pairs.filter((pair) => pair !== '').map(cutAtEquals)
}

function cutAtEquals(pair: string): readonly [name: string, value: string] {
  const place = pair.indexOf('=')
  return place < 0 ? [pair, ''] : [pair.slice(0, place), pair.slice(place + 1)]
}
