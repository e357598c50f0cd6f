import type { SettingsProblem } from '../config/problem.ts'
import { createLog, type Log } from '../lib/log.ts'
import type { FailureNotes } from '../observability/request-log/failure-notes.ts'
import { createReadableLog } from '../observability/request-log/readable-log.ts'
import type { CliContext } from './context.ts'

/** Creates the log of a command on standard error: readable text on a terminal, else or with `json` JSON lines. */
export function logTo({ err, errTerminal }: CliContext, json = false, notes?: FailureNotes): Log {
  if (errTerminal === undefined || json) return createLog((line) => err(line.trimEnd()))
  return createReadableLog({ write: err, color: errTerminal.color, ...(notes && { notes }) })
}

/** Logs the warnings about the settings. */
export function logWarnings(warnings: readonly SettingsProblem[], log: Log): void {
  for (const { path, message } of warnings) log.warn(`The setting ${path} ${message}`)
}
