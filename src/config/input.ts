/** Where settings may come from besides the file. */
export type SettingsInput = {
  readonly flags: SettingsFlags
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  readonly platform?: NodeJS.Platform
}

export type SettingsFlags = {
  readonly config?: string
  readonly data?: string
  readonly host?: string
  readonly port?: string
}
