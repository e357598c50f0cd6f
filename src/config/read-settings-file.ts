import { readFileSync } from 'node:fs'
import { isObject } from '../lib/json/json.ts'
import { fileErrorReason } from './file-errors.ts'
import { SettingsError } from './problem.ts'
import { duplicateKey } from './duplicate-key.ts'

/** Reads and parses the settings file without validating it. Throws `SettingsError`. */
export function readSettingsFile(file: string): unknown {
  const text = readText(file)
  const settings = parseYaml(text, file)
  const duplicate = duplicateKey(text)
  if (duplicate !== undefined)
    throw settingsError(file, duplicate, 'is defined twice. Merge the two definitions.')
  if (settings === null || settings === undefined)
    throw settingsError(
      file,
      '',
      'The file is empty. Add a setting, such as “port: 9347”, or remove the file.',
    )
  if (!isObject(settings))
    throw settingsError(
      file,
      '',
      'The file must contain named settings, such as “port: 9347”, not a list or a string.',
    )
  return withEmptyProviders(settings)
}

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
