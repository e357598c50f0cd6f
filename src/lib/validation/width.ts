import type { Path } from './wording.ts'
import { parseJson } from '../json/json.ts'
import { stringEnd } from './nesting.ts'

/**
 * How many properties of an object cost next to nothing: JSON.parse and every walk take ten times as long for each one
 * beyond them, which gives every object a table of its own.
 */
export const cheapProperties = 64

/**
 * The path of the object in a JSON text with which the properties beyond the cheap ones of their objects become more
 * than `limit`, cut where it is long; undefined where they do not.
 */
export function tooWide(text: string, limit: number): Path | undefined {
  return colonsExceed(text, limit) ? wideObject(text, limit) : undefined
}

/** Most texts are too short for so many properties, and most others have fewer colons, in whatever they say. */
function colonsExceed(text: string, limit: number): boolean {
  if (text.length < limit * fewestCharacters) return false
  let index = -1
  for (let left = limit; left >= 0; left--) {
    index = text.indexOf(':', index + 1)
    if (index < 0) return false
  }
  return true
}

/** What a property takes at least: `"":1,`. */
const fewestCharacters = 5

/** Of each object and array that is open: how many members came before, and where the key of the member begins. */
type Open = { readonly members: number[]; readonly keys: number[] }

const noKey = -1

function wideObject(text: string, limit: number): Path | undefined {
  const { members, keys }: Open = { members: [], keys: [] }
  let depth = -1
  let lastString = noKey
  let left = limit
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 34: // a quote
        lastString = index
        index = stringEnd(text, index)
        break
      case 91: // brackets that open
      case 123:
        depth += 1
        members[depth] = 0
        keys[depth] = noKey
        break
      case 93: // and that close
      case 125:
        depth -= 1
        break
      case 58: // a colon
        keys[depth] = lastString
        members[depth] = (members[depth] ?? 0) + 1
        if ((members[depth] ?? 0) > cheapProperties) left -= 1
        if (left < 0) return pathOf({ members, keys }, depth, text)
        break
      case 44: // a comma
        if (keys[depth] === noKey) members[depth] = (members[depth] ?? 0) + 1
        break
      default:
    }
  }
  return undefined
}

/** Longer ones name a field well enough. */
const mostSteps = 8

function pathOf({ members, keys }: Open, depth: number, text: string): Path {
  return Array.from({ length: Math.min(depth, mostSteps) }, (_, level) => {
    const start = keys[level] ?? noKey
    return start === noKey ? (members[level] ?? 0) : String(parseJson(textAt(text, start)))
  })
}

function textAt(text: string, start: number): string {
  return text.slice(start, stringEnd(text, start) + 1)
}
