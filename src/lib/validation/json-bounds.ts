import { parseJson } from '../json/json.ts'
import type { Path } from './problem.ts'

const quote = 34
const backslash = 92

/**
 * Returns true if arrays and objects of a JSON text are nested more than `limit` levels deep. JSON.parse accepts any
 * depth, but JSON.stringify and every recursive function overflow the stack on its result.
 */
export function isTooDeep(text: string, limit: number): boolean {
  return bracketsExceed(text, limit) && depthExceeds(text, limit)
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

function depthExceeds(text: string, limit: number): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = stringEnd(text, index)
    else if (code === 91 || code === 123) depth += 1
    else if (code === 93 || code === 125) depth -= 1
    if (depth > limit) return true
  }
  return false
}

/** Returns the index of the quote that ends the JSON string started at `start`, or the length of the text. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

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
  return colonsExceed(text, limit) ? wideObject(text, limit) : undefined
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

/** For each open object and array: the number of previous members, and the index of the current member's key. */
type OpenContainers = { readonly members: number[]; readonly keys: number[] }

const noKey = -1

function wideObject(text: string, limit: number): Path | undefined {
  const { members, keys }: OpenContainers = { members: [], keys: [] }
  let depth = -1
  let lastString = noKey
  let remaining = limit
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 34: // a quote
        lastString = index
        index = stringEnd(text, index)
        break
      case 91: // opening brackets
      case 123:
        depth += 1
        members[depth] = 0
        keys[depth] = noKey
        break
      case 93: // closing brackets
      case 125:
        depth -= 1
        break
      case 58: // a colon
        keys[depth] = lastString
        members[depth] = (members[depth] ?? 0) + 1
        if ((members[depth] ?? 0) > cheapProperties) remaining -= 1
        if (remaining < 0) return pathOf({ members, keys }, depth, text)
        break
      case 44: // a comma
        if (keys[depth] === noKey) members[depth] = (members[depth] ?? 0) + 1
        break
      default:
    }
  }
  return undefined
}

/** Longer paths are cut: this many steps identify a field well enough. */
const maxPathSteps = 8

function pathOf({ members, keys }: OpenContainers, depth: number, text: string): Path {
  return Array.from({ length: Math.min(depth, maxPathSteps) }, (_, level) => {
    const start = keys[level] ?? noKey
    return start === noKey ? (members[level] ?? 0) : String(parseJson(textAt(text, start)))
  })
}

function textAt(text: string, start: number): string {
  return text.slice(start, stringEnd(text, start) + 1)
}
