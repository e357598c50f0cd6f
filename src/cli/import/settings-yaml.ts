import { fieldsOf, isObject } from '../../lib/json/json.ts'
import { problemPath, type SettingsProblem } from '../../config/problem.ts'
import { checkSchema } from '../../config/check-schema.ts'
import { toSettings } from '../../config/defaults.ts'
import { interpolate } from '../../config/read-settings-file.ts'
import { duplicateModelNames } from '../../config/load.ts'
import { SettingsFile } from '../../config/settings.ts'
import { parseYaml } from '../../config/yaml.ts'
import { configurationProblems } from '../../gateway/configuration.ts'
import { unicodeEscape } from '../quote.ts'

/** Writes settings as YAML, with a comment above each path that has one. */
export function settingsYaml(settings: object, comments: ReadonlyMap<string, string>, title: string): string {
  const lines = title.split('\n').map((line) => `# ${line}`)
  for (const [name, value] of Object.entries(settings)) {
    lines.push('', ...commentLines(name, '', comments))
    lines.push(...entryLines(name, value, name, '', comments))
  }
  return `${lines.join('\n')}\n`
}

type Comments = ReadonlyMap<string, string>

function entryLines(
  name: string,
  value: unknown,
  path: string,
  indent: string,
  comments: Comments,
): string[] {
  const key = `${indent}${scalarText(name)}:`
  if (isInline(value, path)) return [`${key} ${inlineText(value, false)}`]
  return [key, ...childLines(value, path, `${indent}  `, comments)]
}

function childLines(value: unknown, path: string, indent: string, comments: Comments): string[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => itemLines(item, problemPath(path, index), indent, comments))
  const fields = isObject(value) ? Object.entries(value) : []
  return fields.flatMap(([name, item]) => {
    const itemPath = problemPath(path, name)
    return [
      ...commentLines(itemPath, indent, comments),
      ...entryLines(name, item, itemPath, indent, comments),
    ]
  })
}

/** The first line of an item begins with a dash in place of the indentation. */
function itemLines(item: unknown, path: string, indent: string, comments: Comments): string[] {
  if (isInline(item, path)) return [`${indent}- ${inlineText(item, false)}`]
  const lines = childLines(item, path, `${indent}  `, comments)
  const [first = '', ...rest] = lines
  return [...commentLines(path, indent, comments), `${indent}- ${first.slice(indent.length + 2)}`, ...rest]
}

function commentLines(path: string, indent: string, comments: Comments): string[] {
  const comment = comments.get(path)
  return comment === undefined ? [] : [`${indent}# ${comment}`]
}

/** A value that fits on the line of its name: all but the entries of `providers`, of `models` and long ones. */
function isInline(value: unknown, path: string): boolean {
  if (!isObject(value) && !Array.isArray(value)) return true
  const values = Object.values(value)
  if (values.length === 0) return true
  if (/^(providers|models)(\.|\[\d+\]$|$)/.test(path) && !/\.(timeouts|pricing)$/.test(path)) {
    if (!Array.isArray(value) || values.some(isObject)) return /\.routes\[\d+\]$/.test(path)
  }
  return inlineText(value, false).length <= maxInlineLength
}

const maxInlineLength = 120

function inlineText(value: unknown, nested: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => inlineText(item, true)).join(', ')}]`
  if (!isObject(value)) return scalarText(value, nested)
  const parts = Object.entries(value).map(
    ([name, item]) => `${scalarText(name, true)}: ${inlineText(item, true)}`,
  )
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

/** A text that YAML could read as something else is quoted, in JSON, which is YAML. */
function scalarText(value: unknown, nested = true): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  const isVariable = !nested && /^\$\{\w+\}$/.test(value)
  if (isVariable || (plainText.test(value) && !otherType.test(value))) return value
  if (!nested && /^https?:\/\/[\w./:@%~-]*[\w/]$/.test(value)) return value
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, unicodeEscape)
}

const plainText = /^([A-Za-z_][\w./+-]*|\d+(ms|s|m|h|d))$/
const otherType = /^(true|false|null|yes|no|on|off|y|n)$/i

/**
 * Returns the problems that the settings loader would find in this weir.yaml if every environment variable that it names were
 * set. The files that it names are not read.
 */
export function problemsOfYaml(yaml: string): readonly SettingsProblem[] {
  const problems: SettingsProblem[] = []
  const settings = withSampleVariables(parseYaml(yaml).value, problems)
  if (!checkSchema(SettingsFile, settings, problems)) return problems
  problems.push(...duplicateModelNames(settings.models ?? []))
  const isFile = ({ path }: SettingsProblem) => path.endsWith('.credentials')
  const further = configurationProblems(toSettings(settings, null), {})
  return [...problems, ...further.filter((problem) => !isFile(problem))]
}

/** A variable at the start of `base_url` becomes an address, and any other one a word. */
function withSampleVariables(settings: unknown, problems: SettingsProblem[]): unknown {
  const { providers, ...others } = fieldsOf(settings)
  const entries = Object.entries(fieldsOf(providers)).map(([name, provider]) => {
    const { base_url, ...entry } = fieldsOf(provider)
    const isWhole = typeof base_url === 'string' && base_url.startsWith('${')
    const url = interpolate(base_url, variablesAre(isWhole ? 'https://sample.test' : 'sample'), problems)
    return [name, { ...withWords(entry, problems), ...(url !== undefined && { base_url: url }) }]
  })
  return {
    ...withWords(others, problems),
    ...(isObject(providers) && { providers: Object.fromEntries(entries) }),
  }
}

function withWords(fields: object, problems: SettingsProblem[]): object {
  return fieldsOf(interpolate(fields, variablesAre('sample'), problems))
}

/** An environment in which every variable has this value. */
function variablesAre(value: string): Readonly<Record<string, string>> {
  return new Proxy({}, { get: () => value })
}
