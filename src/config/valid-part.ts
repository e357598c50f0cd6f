import { Check } from 'typebox/schema'
import { type Fields, fieldsOf, isObject, listOf, numberOf } from '../lib/json/json.ts'

/**
 * Returns the part of the value that the schema allows, so that the rest of an invalid file can be checked too; undefined
 * if there is none. What is required and not valid becomes an example, and the places in lists stay the same.
 */
export function validPart(schema: Fields, value: unknown): unknown {
  if (isObject(schema.properties))
    return isObject(value) ? validFields(schema, schema.properties, value) : undefined
  if (isObject(schema.patternProperties)) return isObject(value) ? validEntries(schema, value) : undefined
  if (schema.type !== 'array') return Check(schema, value) ? value : undefined
  if (!Array.isArray(value) || value.length < (numberOf(schema.minItems) ?? 0)) return undefined
  const items = fieldsOf(schema.items)
  return value.map((item) => validPart(items, item) ?? exampleOf(items))
}

function validFields(schema: Fields, properties: Fields, value: Fields): Fields {
  const required = listOf(schema.required)
  const entries = Object.entries(properties).map(([name, property]) => {
    const part = Object.hasOwn(value, name) ? validPart(fieldsOf(property), value[name]) : undefined
    return [name, part ?? (required.includes(name) ? exampleOf(fieldsOf(property)) : undefined)] as const
  })
  return Object.fromEntries(entries.filter(([, part]) => part !== undefined))
}

function validEntries(schema: Fields, value: Fields): Fields {
  const [entry] = Object.values(fieldsOf(schema.patternProperties))
  const parts = Object.entries(value).map(([name, item]) => [name, validPart(fieldsOf(entry), item)] as const)
  // A provider without a valid setting is still one that routes may name.
  const isOfObjects = isObject(fieldsOf(entry).properties)
  return Object.fromEntries(
    parts.flatMap(([name, part]) => (part !== undefined || isOfObjects ? [[name, part ?? {}]] : [])),
  )
}

function exampleOf(schema: Fields): unknown {
  const [example] = [...listOf(schema.examples), ...listOf(schema.enum)]
  return example ?? validPart(schema, {})
}
