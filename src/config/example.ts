import { type Fields, fieldsOf, isObject, listOf, numberOf } from '../lib/json/json.ts'

/** A value that fits the schema, as YAML in one line: its own example, else one made of those of its parts. */
export function exampleOf(schema: Fields): string {
  const [own] = listOf(schema.examples)
  if (own !== undefined) return flowText(own)
  if (isObject(schema.properties)) return exampleOfObject(schema, schema.properties)
  if (isObject(schema.patternProperties))
    return `{ name: ${exampleOf(fieldsOf(Object.values(schema.patternProperties)[0]))} }`
  if (schema.type === 'array') return `[${exampleOf(fieldsOf(schema.items))}]`
  const [choice] = [...listOf(schema.enum), ...listOf(schema.anyOf).map((one) => exampleOf(fieldsOf(one)))]
  if (schema.const !== undefined || choice !== undefined) return String(schema.const ?? choice)
  if (schema.type === 'boolean') return 'true'
  return schema.type === 'string' ? 'text' : String(Math.max(1, numberOf(schema.minimum) ?? 1))
}

function exampleOfObject(schema: Fields, properties: Fields): string {
  const required = listOf(schema.required).map(String)
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1)
  return `{ ${names.map((name) => `${name}: ${exampleOf(fieldsOf(properties[name]))}`).join(', ')} }`
}

function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  if (!isObject(value)) return String(value)
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${flowText(part)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
