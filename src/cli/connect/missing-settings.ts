import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { fileErrorReason } from '../../config/file-problems.ts'
import { replaceFile } from '../../lib/files.ts'
import { errorCode } from '../../lib/platform-failure.ts'
import { CommandError } from '../errors.ts'

/** A setting of Weir that a tool needs, and that the settings lack. */
export type MissingSetting = { readonly section: string; readonly name: string; readonly value: boolean }

/** Returns the setting as it is written in weir.yaml. */
export function settingText({ section, name, value }: MissingSetting): string {
  return `${section}: { ${name}: ${value} }`
}

/**
 * Adds the settings to a settings file, and creates it if it is missing; its comments and all other settings stay. Throws
 * `CommandError` if it cannot be read, edited or written.
 */
export function applySettings(file: string, missing: readonly MissingSetting[]): void {
  const text = readIfExists(file)
  const expected = expectedSettings(text, missing)
  const isNew = missing.every(({ section }) => !Object.hasOwn(settingsOf(text), section))
  // Adding lines leaves the others as they are.
  const edited = (isNew ? [withLines, withSettings] : [withSettings])
    .map((edit) => edit(text, missing))
    .find((edited) => Bun.deepEquals(parseOrNull(edited), expected))
  if (edited === undefined)
    throw new CommandError(
      `The file ${file} cannot be edited. Add this yourself: ${missing.map(settingText).join(', ')}`,
    )
  accessFile(file, () => replaceFile(file, edited))
}

function readIfExists(file: string): string {
  return accessFile(file, () => {
    try {
      return readFileSync(file, 'utf8')
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return ''
      throw error
    }
  })
}

function accessFile<T>(file: string, access: () => T): T {
  try {
    return access()
  } catch (error) {
    throw new CommandError(`The file ${file} cannot be changed: ${fileErrorReason(error)}.`)
  }
}

function withLines(text: string, missing: readonly MissingSetting[]): string {
  const lines = missing.map(({ section, name, value }) => `${section}:\n  ${name}: ${value}\n`).join('')
  return withLineEnds(text === '' || text.endsWith('\n') ? text + lines : `${text}\n${lines}`, text)
}

function withSettings(text: string, missing: readonly MissingSetting[]): string {
  const document = parseDocument(text)
  for (const { section, name, value } of missing) document.setIn([section, name], value)
  return withLineEnds(document.toString({ lineWidth: 0 }), text)
}

/** The line ends of Windows, if the text had them before. */
function withLineEnds(edited: string, before: string): string {
  return before.includes('\r\n') ? edited.replace(/\r?\n/g, '\r\n') : edited
}

function parseOrNull(text: string): unknown {
  try {
    return Bun.YAML.parse(text)
  } catch {
    return null
  }
}

function expectedSettings(text: string, missing: readonly MissingSetting[]): unknown {
  const settings = { ...settingsOf(text) }
  for (const { section, name, value } of missing) settings[section] = { ...settings[section], [name]: value }
  return settings
}

/** The text was loaded: a valid file has a mapping, and its sections are mappings. */
function settingsOf(text: string): Record<string, Record<string, unknown>> {
  return (Bun.YAML.parse(text) ?? {}) as Record<string, Record<string, unknown>>
}
