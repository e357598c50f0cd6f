import { parseJson } from '../json/json.ts'
import type { Path } from './problem.ts'

const quote = 34
const backslash = 92

/** The bounds of a JSON text; one that is absent is not checked. */
export type JsonLimits = {
  /** Levels of arrays and objects. */
  readonly maxDepth?: number
  /** Properties beyond the cheap ones of each object, of all objects together. */
  readonly maxProperties?: number
  /** In units of `bytesOfWeight`. */
  readonly maxWeight?: number
}

/** How much a JSON text has, up to the first limit that it exceeds: `path` leads to what exceeds it. */
export type JsonMeasure = {
  /** In units of `bytesOfWeight`. */
  readonly weight: number
  readonly broken?: 'depth' | 'properties' | 'weight'
  readonly path?: Path
}

/** The bytes that the values of a parsed text take beside their text. Distinct objects take a little more, alike ones less. */
export const weights = { container: 16, string: 4, value: 1 } as const

/** The memory of one unit of weight: an element of an array, such as a number. */
export const bytesOfWeight = 8

/**
 * Counts, in one pass and without parsing, what JSON.parse would make of a text: its depth, its properties and the weight of
 * its values. A text that is not JSON has a measure too.
 */
export function measureJson(text: string, limits: JsonLimits): JsonMeasure {
  const { maxDepth = Infinity, maxProperties = Infinity, maxWeight = Infinity } = limits
  const scan = new StructureScan()
  for (let index = nextMark(text, 0); index < text.length; index = nextMark(text, index + 1)) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      scan.addString(index)
      index = stringEnd(text, index)
    } else scan.add(code)
    // More brackets were closed than opened: the text is not JSON.
    if (scan.depth < -1) break
    const broken = scan.brokenLimit(maxDepth, maxProperties, maxWeight)
    if (broken) return { weight: scan.weight, broken, path: scan.path(text) }
  }
  return { weight: scan.weight }
}

/** The index of the next quote, comma, colon, bracket or brace. A bit distinguishes a brace from its bracket. */
function nextMark(text: string, start: number): number {
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote || code === 44 || code === 58 || (code | 32) === 123 || (code | 32) === 125)
      return index
  }
  return text.length
}

/**
 * Returns true if arrays and objects of a JSON text are nested more than `limit` levels deep. JSON.parse accepts any
 * depth, but JSON.stringify and every recursive function overflow the stack on its result.
 */
export function isTooDeep(text: string, limit: number): boolean {
  return bracketsExceed(text, limit) && measureJson(text, { maxDepth: limit }).broken === 'depth'
}

/** Returns true if the strings of a JSON text have more than `limit` escape sequences. */
export function hasMoreEscapes(text: string, limit: number): boolean {
  let remaining = limit
  for (let index = text.indexOf('\\'); index >= 0; index = text.indexOf('\\', index + 2))
    if (--remaining < 0) return true
  return false
}

/** A cheap first check, at a tenth of the cost: almost every text has fewer brackets than allowed levels. */
function bracketsExceed(text: string, limit: number): boolean {
  let remaining = limit
  for (const bracket of ['[', '{']) {
    for (let index = text.indexOf(bracket); index >= 0; index = text.indexOf(bracket, index + 1)) {
      if (remaining === 0) return true
      remaining -= 1
    }
  }
  return false
}

/** Returns the index of the quote that ends the JSON string started at `start`, or the length of the text. */
export function stringEnd(text: string, start: number): number {
  let index = start + 1
  for (;;) {
    const end = text.indexOf('"', index)
    if (end < 0) return text.length
    if (!isEscaped(text, end)) return end
    index = end + 1
    // The next quote is often near: a search for each would take longer than to look at the characters after this one.
    for (const near = Math.min(index + nearQuote, text.length); index < near; index++) {
      const code = text.charCodeAt(index)
      if (code === quote) return index
      if (code === backslash) index += 1
    }
  }
}

/** Characters that are looked at one by one in the time of a search. */
const nearQuote = 16

function isEscaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === backslash) before -= 1
  return (index - before) % 2 === 0
}

/**
 * The properties of an object that are cheap. JSON.parse and every traversal take ten times as long for each property
 * beyond them, because the object then needs its own property table.
 */
export const cheapProperties = 64

/**
 * Counts the properties beyond the cheap ones of all objects in a JSON text. Returns the path of the object where the
 * count exceeds `limit`, shortened if it is long; undefined if it does not.
 */
export function findTooWide(text: string, limit: number): Path | undefined {
  return colonsExceed(text, limit) ? measureJson(text, { maxProperties: limit }).path : undefined
}

/** A cheap first check: most texts are too short for that many properties, and most others have fewer colons. */
function colonsExceed(text: string, limit: number): boolean {
  if (text.length < limit * minPropertyLength) return false
  let index = -1
  for (let remaining = limit; remaining >= 0; remaining--) {
    index = text.indexOf(':', index + 1)
    if (index < 0) return false
  }
  return true
}

/** Characters of the shortest property: `"":1,`. */
const minPropertyLength = 5

const noKey = -1

/** Longer paths are cut: this many steps identify a field well enough. */
const maxPathSteps = 8

/** The counts of a text up to a position of its scan. */
class StructureScan {
  /** The innermost open array or object; -1 outside of all. */
  depth = -1
  weight = 0
  /** For each open array and object: the number of previous members, and the index of the current member's key. */
  readonly #members: number[] = []
  readonly #keys: number[] = []
  #lastString = noKey
  #properties = 0

  addString(index: number): void {
    this.weight += weights.string
    this.#lastString = index
  }

  /** Adds a character outside of strings that is part of the structure. */
  add(code: number): void {
    switch (code) {
      case 91: // opening brackets
      case 123:
        this.weight += weights.container
        this.depth += 1
        this.#members[this.depth] = 0
        this.#keys[this.depth] = noKey
        break
      case 93: // closing brackets
      case 125:
        this.depth -= 1
        break
      case 58: // a colon
        this.#addProperty()
        break
      case 44: // a comma
        this.weight += weights.value
        if (this.#keys[this.depth] === noKey) this.#members[this.depth] = (this.#members[this.depth] ?? 0) + 1
        break
      default:
    }
  }

  brokenLimit(maxDepth: number, maxProperties: number, maxWeight: number): JsonMeasure['broken'] {
    if (this.depth >= maxDepth) return 'depth'
    if (this.#properties > maxProperties) return 'properties'
    return this.weight > maxWeight ? 'weight' : undefined
  }

  path(text: string): Path {
    return Array.from({ length: Math.min(this.depth, maxPathSteps) }, (_, level) => {
      const start = this.#keys[level] ?? noKey
      return start === noKey ? (this.#members[level] ?? 0) : String(parseJson(textAt(text, start)))
    })
  }

  #addProperty(): void {
    const members = (this.#members[this.depth] ?? 0) + 1
    this.#keys[this.depth] = this.#lastString
    this.#members[this.depth] = members
    if (members > cheapProperties) this.#properties += 1
  }
}

function textAt(text: string, start: number): string {
  return text.slice(start, stringEnd(text, start) + 1)
}
