import { type Fields, fieldsOf, listOf, parseJson } from '../../../src/lib/json/json.ts'

/** The properties whose strings are words of a protocol, and not texts of the program. */
const protocolProperties =
  /^(type|role|name|namespace|model|effort|verbosity|summary|tool_choice|include|status|keep|display|ttl|syntax|execution|\$schema|required|format)$/
/** What such a word looks like. */
const protocolWord = /^[\w$.:/#-]{1,80}$/

/**
 * Returns a copy of a request in which every text is replaced by a made-up one, the same for the same text, so that it
 * has the form of the request and says nothing of what the program says.
 */
export function shapeOf(body: Fields): Fields {
  const texts = new Map<string, string>()
  return fieldsOf(shape(body, '', texts))
}

function shape(value: unknown, property: string, texts: Map<string, string>): unknown {
  if (typeof value === 'string') return shapeOfText(value, property, texts)
  if (Array.isArray(value)) return value.map((entry) => shape(entry, property, texts))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, field]) => [
    key.startsWith('/') ? '/folder' : key,
    shape(field, key, texts),
  ])
  return Object.fromEntries(entries)
}

function shapeOfText(text: string, property: string, texts: Map<string, string>): string {
  if (text === '' || (protocolProperties.test(property) && protocolWord.test(text))) return text
  if (property === 'description') return 'A description.'
  const json = text.startsWith('{') ? parseJson(text) : undefined
  if (json !== undefined) return JSON.stringify(shape(json, '', texts))
  const known = texts.get(text)
  if (known !== undefined) return known
  const made = `${property || 'text'}-${texts.size + 1}`
  texts.set(text, made)
  return made
}

/** The headers whose values are words of a protocol. */
const protocolHeaders =
  /^(accept|content-type|anthropic-(version|beta|dangerous.*)|openai-beta|x-app|originator)$/
/** The headers of the connection, which depend on the machine. */
const connectionHeaders = /^(host|connection|content-length|accept-encoding)$/

/** Returns the headers with made-up values, but for words of a protocol. */
export function shapeOfHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !connectionHeaders.test(name))
  return Object.fromEntries(
    kept.toSorted().map(([name, value]) => [name, protocolHeaders.test(name) ? value : 'a-value']),
  )
}

/** The name of a tool, or the type of one that has none. */
export function toolKey(tool: unknown): string {
  const { name, type, function: called } = fieldsOf(tool)
  return String(fieldsOf(called).name ?? name ?? type)
}

/** The tools of a request by their keys. */
export function toolsByKey(body: Fields): Readonly<Record<string, Fields>> {
  return Object.fromEntries(listOf(body.tools).map((tool) => [toolKey(tool), fieldsOf(tool)]))
}
