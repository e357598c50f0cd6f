import { isObject } from '../lib/json/json.ts'
import { problemPath } from './problem-path.ts'

/**
 * The path of the first name that a mapping of this YAML text has twice; undefined where there is none. The parser
 * keeps the last of the two and does not say so. Each name in the text gets a mark of its own, and is compared without
 * it after parsing: what looks like a name inside a text or a comment does no harm.
 */
export function duplicateKey(text: string): string | undefined {
  let count = 0
  const marked = text.replace(keyEnd, (end) => `${mark}${count++}_${end}`)
  try {
    return findDuplicate(Bun.YAML.parse(marked), '', new Set())
  } catch {
    // A mark broke the text, such as one behind a backslash. The text itself was parsed before.
    return undefined
  }
}

/** The end of a quoted name, or of a plain one; behind the colon of the latter must be a space. */
const keyEnd = /(?<!\\)["'][ \t]*:|(?<=[^\s"',{[])[ \t]*:(?=[\s,\]}]|$)/gm
const mark = '__weir_mark_'
const marks = new RegExp(`${mark}\\d+_`, 'g')

function findDuplicate(value: unknown, path: string, seen: Set<unknown>): string | undefined {
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined
  seen.add(value)
  const names = new Set<string>()
  for (const [written, item] of Object.entries(value)) {
    const name = written.replace(marks, '')
    const itemPath = problemPath(path, Array.isArray(value) ? Number(written) : name)
    if (isObject(value) && names.has(name) && name !== '<<') return itemPath
    names.add(name)
    const nested = findDuplicate(item, itemPath, seen)
    if (nested !== undefined) return nested
  }
  return undefined
}
