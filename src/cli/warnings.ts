import type { SettingsProblem } from '../config/problem.ts'
import type { Log } from '../lib/log.ts'

/** Logs what the settings have that is accepted but probably not what was meant. */
export function logWarnings(warnings: readonly SettingsProblem[], log: Log): void {
  for (const { path, message } of warnings) log.warn(`The setting ${path} ${message}`)
}
