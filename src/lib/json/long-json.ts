import { isTooDeep, stringEnd } from '../validation/json-bounds.ts'
import { isObject, parseJson } from './json.ts'

/** Characters of one value: 65,536 numbers with all their digits. */
export const maxValueLength = 2 * 1024 * 1024

/** Characters of all that is not a value: several hundred for each of 2,048 values. */
const maxRestLength = 2 * 1024 * 1024

/** Characters that are read in one step, or a single longer value. */
const stepLength = 256 * 1024

/** Reads a value from its JSON; `value` is undefined for one that is not valid. The result takes its place. */
type ReadValue = (value: unknown, json: string) => unknown

/**
 * A long JSON text, almost all of which is the values of one property: lists of numbers, or text. They are parsed one by one,
 * in steps between which other work can run, and the small rest after the last of them.
 */
export class LongJson {
  readonly #text: string
  readonly #name: string
  readonly #key: string
  readonly #read: ReadValue
  readonly #values: unknown[] = []
  /** The text up to here with the index of each value in place of the value. */
  #rest = ''
  #position = 0

  constructor(text: string, name: string, read: ReadValue) {
    this.#text = text
    this.#name = name
    this.#key = JSON.stringify(name)
    this.#read = read
  }

  /** Reads the next values; returns whether there may be more. Throws for a text that does not consist of such values. */
  step(): boolean {
    const end = this.#position + stepLength
    while (this.#position < end) if (!this.#readNext()) return false
    return true
  }

  /**
   * Parses the rest after the last step, with what was read in place of each value; undefined if it is not JSON. Throws where
   * it nests deeper than `maxDepth`.
   */
  parseRest(maxDepth: number): unknown {
    if (isTooDeep(this.#rest, maxDepth)) throw new LongValueError()
    const rest = parseJson(this.#rest)
    this.#restore(rest)
    return rest
  }

  /**
   * Every list of this name is an index: the lists of the text were replaced. A reviver of `JSON.parse` would be called for
   * each of a million numbers, and take a quarter of a second.
   */
  #restore(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) if (typeof item === 'object') this.#restore(item)
    if (!isObject(value)) return
    const fields: Record<string, unknown> = value
    for (const name in fields) {
      const field = fields[name]
      if (name === this.#name && Array.isArray(field)) fields[name] = this.#values[Number(field[0])]
      else if (typeof field === 'object') this.#restore(field)
    }
  }

  #readNext(): boolean {
    const key = this.#text.indexOf(this.#key, this.#position)
    if (key < 0) {
      this.#addRest(this.#text.length)
      return false
    }
    const start = afterColon(this.#text, key + this.#key.length)
    this.#addRest(start)
    const end = valueEnd(this.#text, start)
    // The name is a value itself, or has none of these values.
    if (end === start) return true
    if (end - start > maxValueLength) throw new LongValueError()
    const json = this.#text.slice(start, end)
    this.#rest += `[${this.#values.length}]`
    this.#values.push(this.#read(parseJson(json), json))
    this.#position = end
    return true
  }

  #addRest(end: number): void {
    if (this.#rest.length + end - this.#position > maxRestLength) throw new LongValueError()
    this.#rest += this.#text.slice(this.#position, end)
    this.#position = end
  }
}

/** A value, or what is beside the values, is too long to be parsed in one piece. */
export class LongValueError extends Error {}

/** The index after a colon between spaces, of which no text has more; or `start` where there is none. */
function afterColon(text: string, start: number): number {
  colon.lastIndex = start
  return colon.test(text) ? colon.lastIndex : start
}

const colon = /[ \t\r\n]{0,99}:[ \t\r\n]{0,99}/y

/** The index after the list or the text that begins at `start`; or `start` for another value. No list is nested. */
function valueEnd(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return Math.min(stringEnd(text, start) + 1, text.length)
  if (first !== '[') return start
  const end = text.indexOf(']', start)
  return end < 0 ? text.length : end + 1
}
