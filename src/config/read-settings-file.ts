import { readFileSync } from 'node:fs'
import { isObject } from '../lib/json/json.ts'
import { fileErrorReason } from './file-problems.ts'
import { problemPath, SettingsError, type SettingsProblem } from './problem.ts'

/** Reads and parses the settings file without validating it. Throws `SettingsError`. */
export function readSettingsFile(file: string): unknown {
  const text = readText(file)
  const settings = parseYaml(text, file)
  const duplicate = duplicateKey(text)
  if (duplicate !== undefined)
    throw settingsError(file, duplicate, 'is defined twice. Merge the two definitions.')
  if (settings === null || settings === undefined) throw settingsError(file, '', emptyMessage)
  if (!isObject(settings)) throw settingsError(file, '', unnamedMessage)
  return withEmptyProviders(settings)
}

const emptyMessage = 'The file is empty. Add a setting, such as “port: 9347”, or remove the file.'
const unnamedMessage = 'The file must contain named settings, such as “port: 9347”, not a list or a string.'

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw settingsError(file, '', `The file cannot be read: ${fileErrorReason(error)}.`)
  }
}

function parseYaml(text: string, file: string): unknown {
  try {
    return Bun.YAML.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^YAML Parse error: /, '') : 'not YAML'
    throw settingsError(file, `line ${invalidLine(text)}`, `${reason}. This is not valid YAML.`)
  }
}

/** Finds the line of a YAML error, which the parser does not report: it follows the longest valid beginning. */
export function invalidLine(text: string): number {
  const lines = text.split(/\r\n|\n|\r/)
  let validLines = lines.length - 1
  while (validLines > 0 && !isYaml(lines.slice(0, validLines).join('\n'))) validLines -= 1
  const skipped = lines
    .slice(validLines)
    .findIndex((line) => line.trim() !== '' && !line.trim().startsWith('#'))
  return validLines + Math.max(0, skipped) + 1
}

function isYaml(text: string): boolean {
  try {
    Bun.YAML.parse(text)
    return true
  } catch {
    return false
  }
}

/** Treats `openai:` like `openai: {}`. */
function withEmptyProviders(settings: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(settings.providers)) return settings
  const providers = Object.entries(settings.providers).map(([name, entry]) => [name, entry ?? {}])
  return { ...settings, providers: Object.fromEntries(providers) }
}

function settingsError(file: string, path: string, message: string): SettingsError {
  return new SettingsError([{ path, message }], file)
}

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

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Replaces `${NAME}` in each string of the value by the environment variable; `$${` stands for `${`. A variable that is
 * not set is a problem, whose message shows nothing else of the string. `$NAME` is kept, with a warning.
 */
export function interpolate(
  value: unknown,
  environment: Environment,
  problems: SettingsProblem[],
  warnings: SettingsProblem[] = [],
): unknown {
  function visit(value: unknown, path: string): unknown {
    if (typeof value === 'string') {
      const warning = bracelessWarning(value, environment)
      if (warning !== undefined) warnings.push({ path, message: warning })
      return substitute(value, environment, path, problems)
    }
    if (Array.isArray(value)) return value.map((item, index) => visit(item, problemPath(path, index)))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, visit(item, problemPath(path, name))]),
    )
  }
  return visit(value, '')
}

function substitute(
  text: string,
  environment: Environment,
  path: string,
  problems: SettingsProblem[],
): string {
  return text.replace(/\$(\$?)\{([^}]*)\}?/g, (match, escape: string, name: string) => {
    if (escape !== '') return match.slice(1)
    const value = /^[A-Za-z_]\w*$/.test(name) && match.endsWith('}') ? environment[name] : undefined
    if (value) return value
    problems.push({ path, message: variableMessage(name, match) })
    return match
  })
}

/**
 * Returns a warning if the text has a `$NAME` that was probably meant as `${NAME}`. It shows the name only if it is the
 * complete text or a variable that is set: anything else may be a part of a key.
 */
function bracelessWarning(text: string, environment: Environment): string | undefined {
  const [, onlyName] = /^\$([A-Za-z_]\w*)$/.exec(text) ?? []
  const [, partName] = /(?:^|[\s:/@=])\$([A-Z][A-Z0-9_]+)\b/.exec(text) ?? []
  if (onlyName === undefined && partName === undefined) return undefined
  const name = onlyName ?? (partName !== undefined && environment[partName] !== undefined ? partName : 'NAME')
  return `contains a $ that is not followed by braces and is used literally. To use a variable, write \${${name}}.`
}

function variableMessage(name: string, match: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name) || !match.endsWith('}'))
    return 'contains a ${…} that is not a variable name. Write ${NAME}, or $${ for a literal ${.'
  return `uses the environment variable ${name}, which is not set.`
}
