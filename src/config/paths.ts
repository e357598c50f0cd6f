import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'

/** The sources of settings other than the file, and where to look for the file. */
export type SettingsInput = {
  readonly flags: SettingsFlags
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  readonly platform?: NodeJS.Platform
}

/** The command line flags that override settings. */
export type SettingsFlags = {
  readonly config?: string
  readonly data?: string
  readonly host?: string
  readonly port?: string
  readonly workers?: string
  readonly 'no-page'?: boolean
}

/** Returns the path of the settings file: the configured one, else the first default that exists, else null. */
export function findSettingsFile(input: SettingsInput): string | null {
  const path = pathOf(input)
  const configured = input.flags.config || input.environment.WEIR_CONFIG
  if (configured) return path.resolve(input.cwd, configured)
  const folders = [input.cwd, path.join(configHome(input), 'weir')]
  return folders.map((folder) => path.join(folder, 'weir.yaml')).find((file) => existsSync(file)) ?? null
}

/** Returns the folder of the database: the configured one, else the default of the platform. */
export function findDataFolder(input: SettingsInput): string {
  const path = pathOf(input)
  const configured = input.flags.data || input.environment.WEIR_DATA
  return configured ? path.resolve(input.cwd, configured) : path.join(dataHome(input), 'weir')
}

function configHome(input: SettingsInput): string {
  const windows = platformOf(input) === 'win32' ? input.environment.APPDATA : undefined
  return absolutePath(input, 'XDG_CONFIG_HOME') ?? (windows || pathOf(input).join(input.home, '.config'))
}

function dataHome(input: SettingsInput): string {
  const windows = platformOf(input) === 'win32' ? input.environment.LOCALAPPDATA : undefined
  return (
    absolutePath(input, 'XDG_DATA_HOME') ?? (windows || pathOf(input).join(input.home, '.local', 'share'))
  )
}

/** The XDG specification requires that a relative path in such a variable is ignored. */
function absolutePath(input: SettingsInput, variable: string): string | undefined {
  const value = input.environment[variable]
  return value !== undefined && pathOf(input).isAbsolute(value) ? value : undefined
}

function pathOf(input: SettingsInput) {
  return platformOf(input) === 'win32' ? win32 : posix
}

function platformOf(input: SettingsInput): NodeJS.Platform {
  return input.platform ?? process.platform
}
