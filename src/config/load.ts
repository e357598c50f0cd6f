import { checkModels } from './check-models.ts'
import { checkShape } from './check-shape.ts'
import { toSettings } from './defaults.ts'
import type { SettingsInput } from './input.ts'
import { interpolate } from './interpolate.ts'
import { findDataFolder, findSettingsFile } from './paths.ts'
import { SettingsError, type SettingsProblem } from './problem.ts'
import { readSettingsFile } from './read-file.ts'
import { type Settings, SettingsFile } from './settings.ts'

export type LoadedSettings = {
  readonly settings: Settings
  /** The file that was read, or null where there is none. */
  readonly file: string | null
  readonly dataFolder: string
  /** What is accepted but probably not what was meant. */
  readonly warnings: readonly SettingsProblem[]
}

/** The settings: flags before WEIR_ variables, before the file, before the defaults. Throws `SettingsError`. */
export function loadSettings(input: SettingsInput): LoadedSettings {
  const file = findSettingsFile(input)
  const problems: SettingsProblem[] = []
  const warnings: SettingsProblem[] = []
  const written =
    file === null ? {} : interpolate(readSettingsFile(file), input.environment, problems, warnings)
  const shapely = checkShape(SettingsFile, written, problems)
  if (shapely) problems.push(...checkModels(written.models ?? []))
  const address = addressOf(input, problems)
  if (!shapely || problems.length > 0) throw new SettingsError(problems, file)
  const settings = toSettings({ ...written, ...address }, file)
  return { settings, file, dataFolder: findDataFolder(input), warnings }
}

function addressOf(input: SettingsInput, problems: SettingsProblem[]): { host?: string; port?: number } {
  const { flags, environment } = input
  const host = flags.host || environment.WEIR_HOST
  const port = portOf('--port', flags.port, problems) ?? portOf('WEIR_PORT', environment.WEIR_PORT, problems)
  return { ...(host && { host }), ...(port !== undefined && { port }) }
}

function portOf(path: string, text: string | undefined, problems: SettingsProblem[]): number | undefined {
  if (text === undefined || text === '') return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65535) return port
  problems.push({ path, message: `must be a whole number from 0 to 65535, not “${text}”.` })
  return undefined
}
