import { type Fields, isObject } from '../../../lib/json/json.ts'
import { nameSet } from '../../../lib/text.ts'
import type { Warn } from '../protocol.ts'

/**
 * Returns the JSON schema in the subset that Anthropic enforces: objects have no additional properties, and limits on
 * values are removed. The schema of the request is not modified.
 */
export function closeSchema(schema: Fields, warn: Warn): Fields {
  const dropped = new Set<string>()
  const closed = closeNode(schema, dropped)
  for (const name of dropped) warn({ what: 'JSON Schema keyword', name, by: 'anthropic' })
  return closed
}

function closeNode(node: Fields, dropped: Set<string>): Fields {
  const kept = Object.entries(node).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === 'additionalProperties' || keyword === '$schema') return []
    if (!isUnsupported(keyword, value)) return [[keyword, closeValue(keyword, value, dropped)]]
    dropped.add(keyword)
    return keyword === 'oneOf' && node.anyOf === undefined ? [['anyOf', closeAll(value, dropped)]] : []
  })
  if (!describesObject(node)) return Object.fromEntries(kept)
  if ((node.additionalProperties ?? false) !== false) dropped.add('additionalProperties')
  return Object.fromEntries([...kept, ['additionalProperties', false]])
}

function isUnsupported(keyword: string, value: unknown): boolean {
  if (keyword === 'minItems') return value !== 0 && value !== 1
  if (keyword === 'format') return typeof value !== 'string' || !supportedFormats.has(value)
  return unsupportedKeywords.has(keyword)
}

function closeValue(keyword: string, value: unknown, dropped: Set<string>): unknown {
  if (listKeywords.has(keyword)) return closeAll(value, dropped)
  if (keyword === 'items') return Array.isArray(value) ? closeAll(value, dropped) : closeAny(value, dropped)
  if (!mapKeywords.has(keyword) || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, node]) => [name, closeAny(node, dropped)]))
}

function closeAll(value: unknown, dropped: Set<string>): unknown {
  return Array.isArray(value) ? value.map((node) => closeAny(node, dropped)) : value
}

function closeAny(node: unknown, dropped: Set<string>): unknown {
  return isObject(node) ? closeNode(node, dropped) : node
}

function describesObject({ type, properties }: Fields): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)
}

const mapKeywords = new Set(['properties', '$defs', 'definitions'])
const listKeywords = new Set(['anyOf', 'allOf', 'prefixItems'])

const supportedFormats = nameSet('date-time time date duration email hostname uri ipv4 ipv6 uuid')

const unsupportedKeywords = nameSet(
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems',
  'contains minContains maxContains minProperties maxProperties patternProperties propertyNames',
  'unevaluatedProperties dependentRequired dependentSchemas if then else not oneOf',
)
