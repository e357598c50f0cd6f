import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isObject } from '../lib/json/json.ts'
import { fileErrorReason } from './file-problems.ts'
import { problemPath, SettingsError, type SettingsProblem } from './problem.ts'
import { maxYamlBytes, type ParsedYaml, parseYaml } from './yaml.ts'

/** Reads and parses the settings file without validating it. Throws `SettingsError`. */
export function readSettingsFile(file: string): ParsedYaml {
  const parsed = parseYaml(readText(file))
  const { value, problems, duplicates, locate } = parsed
  if (value === undefined && problems.length > 0) throw new SettingsError([...problems, ...duplicates], file)
  if (value === null || value === undefined) throw fileError(file, emptyMessage)
  if (!isObject(value)) throw fileError(file, unnamedMessage)
  if (Object.hasOwn(value, 'model_list'))
    throw new SettingsError(
      [{ path: 'model_list', message: litellmMessage(file), ...locate('model_list') }],
      file,
    )
  return { ...parsed, value: withEmptyProviders(value) }
}

const emptyMessage = 'The file is empty. Add a setting, such as “port: 9347”, or remove the file.'
const unnamedMessage = 'The file must contain named settings, such as “port: 9347”, not a list or a string.'
const litellmMessage = (file: string) =>
  `is a setting of LiteLLM. To convert the file, run: weir import litellm ${file} --out new.yaml`

/** Adds the position in the file to each problem that is there. */
export function locateProblems(problems: readonly SettingsProblem[], file: string | null): SettingsProblem[] {
  if (file === null || problems.length === 0) return [...problems]
  try {
    const { locate } = readSettingsFile(file)
    return problems.map((problem) => ({ ...problem, ...locate(problem.path) }))
  } catch {
    // The file was changed since it was loaded.
    return [...problems]
  }
}

function readText(file: string): string {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    if (fstatSync(descriptor).size > maxYamlBytes)
      throw fileError(file, 'The file has more than 1 MiB, which no settings have.')
    return readFileSync(descriptor, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof SettingsError) throw error
    throw fileError(file, `The file cannot be read: ${fileErrorReason(error)}.`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function fileError(file: string, message: string): SettingsError {
  return new SettingsError([{ path: '', message }], file)
}

/** Treats `openai:` like `openai: {}`. */
function withEmptyProviders(settings: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(settings.providers)) return settings
  const providers = Object.entries(settings.providers).map(([name, entry]) => [name, entry ?? {}])
  return { ...settings, providers: Object.fromEntries(providers) }
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Replaces `${NAME}` in each string of the value by the environment variable; `$${` stands for `${`. A variable that is
 * not set is a problem, whose message shows nothing else of the string. `$NAME` is kept, with a warning. Adds the paths of
 * the strings that name a variable to `variablePaths`.
 */
export function interpolate(
  value: unknown,
  environment: Environment,
  problems: SettingsProblem[],
  warnings: SettingsProblem[] = [],
  variablePaths: Set<string> = new Set(),
): unknown {
  function visit(value: unknown, path: string): unknown {
    if (typeof value === 'string') {
      if (value.includes('${')) variablePaths.add(path)
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
