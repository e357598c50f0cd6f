import { readFileSync, writeFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { fileErrorReason } from '../../config/file-problems.ts'
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
  const edited = withSettings(text, missing)
  if (!Bun.deepEquals(Bun.YAML.parse(edited), expectedSettings(text, missing)))
    throw new CommandError(
      `The file ${file} cannot be edited. Add this yourself: ${missing.map(settingText).join(', ')}`,
    )
  accessFile(file, () => writeFileSync(file, edited))
}

function readIfExists(file: string): string {
  return accessFile(file, () => {
    try {
      return readFileSync(file, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
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

function withSettings(text: string, missing: readonly MissingSetting[]): string {
  const document = parseDocument(text)
  for (const { section, name, value } of missing) document.setIn([section, name], value)
  const edited = document.toString({ lineWidth: 0 })
  return text.includes('\r\n') ? edited.replace(/\r?\n/g, '\r\n') : edited
}

function expectedSettings(text: string, missing: readonly MissingSetting[]): unknown {
  // It was loaded: a valid file has a mapping, and its sections are mappings.
  const settings = (Bun.YAML.parse(text) ?? {}) as Record<string, Record<string, unknown>>
  for (const { section, name, value } of missing) settings[section] = { ...settings[section], [name]: value }
  return settings
}
