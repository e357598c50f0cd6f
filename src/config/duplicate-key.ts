import { isObject } from '../lib/json/json.ts'
import { problemPath } from './problem.ts'

/**
 * Returns the path of the first key that occurs twice in a mapping of this YAML text, or undefined. The parser silently
 * keeps the last value. Each key gets a unique mark before parsing and is compared without it after; what looks like a
 * key inside a string or a comment does no harm.
 */
export function duplicateKey(text: string): string | undefined {
  let count = 0
  const marked = text.replace(keyEnd, (end) => `${mark}${count++}_${end}`)
  try {
    return findDuplicate(Bun.YAML.parse(marked), '', new Set())
  } catch {
    // A mark made the text invalid, for example after a backslash. The unmarked text is known to be valid.
    return undefined
  }
}

/** The end of a quoted key, or of a plain one, whose colon must be followed by white space. */
const keyEnd = /(?<!\\)["'][ \t]*:|(?<=[^\s"',{[])[ \t]*:(?=[\s,\]}]|$)/gm
const mark = '__weir_mark_'
const marks = new RegExp(`${mark}\\d+_`, 'g')

function findDuplicate(value: unknown, path: string, seen: Set<unknown>): string | undefined {
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined
  seen.add(value)
  const keys = new Set<string>()
  for (const [markedKey, item] of Object.entries(value)) {
    const key = markedKey.replace(marks, '')
    const itemPath = problemPath(path, Array.isArray(value) ? Number(markedKey) : key)
    if (isObject(value) && keys.has(key) && key !== '<<') return itemPath
    keys.add(key)
    const nested = findDuplicate(item, itemPath, seen)
    if (nested !== undefined) return nested
  }
  return undefined
}
