import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { SettingsInput } from './input.ts'

/** The settings file to read: the one that was named, else the first that exists; null where there is none. */
export function findSettingsFile(input: SettingsInput): string | null {
  const path = pathOf(input)
  const named = input.flags.config || input.environment.WEIR_CONFIG
  if (named) return path.resolve(input.cwd, named)
  const places = [input.cwd, path.join(configHome(input), 'weir')]
  return places.map((place) => path.join(place, 'weir.yaml')).find((file) => existsSync(file)) ?? null
}

/** The folder of the database. */
export function findDataFolder(input: SettingsInput): string {
  const path = pathOf(input)
  const named = input.flags.data || input.environment.WEIR_DATA
  return named ? path.resolve(input.cwd, named) : path.join(dataHome(input), 'weir')
}

function configHome(input: SettingsInput): string {
  const windows = platformOf(input) === 'win32' ? input.environment.APPDATA : undefined
  return absolute(input, 'XDG_CONFIG_HOME') ?? (windows || pathOf(input).join(input.home, '.config'))
}

function dataHome(input: SettingsInput): string {
  const windows = platformOf(input) === 'win32' ? input.environment.LOCALAPPDATA : undefined
  return absolute(input, 'XDG_DATA_HOME') ?? (windows || pathOf(input).join(input.home, '.local', 'share'))
}

/** The XDG rules say that a relative path in such a variable is to be ignored. */
function absolute(input: SettingsInput, variable: string): string | undefined {
  const value = input.environment[variable]
  return value !== undefined && pathOf(input).isAbsolute(value) ? value : undefined
}

function pathOf(input: SettingsInput) {
  return platformOf(input) === 'win32' ? win32 : posix
}

function platformOf(input: SettingsInput): NodeJS.Platform {
  return input.platform ?? process.platform
}
