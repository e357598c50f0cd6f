import { createLog, type Log } from '../lib/log.ts'
import type { FailureNotes } from '../observe/failure-notes.ts'
import { createReadableLog } from '../observe/readable-log.ts'
import type { World } from './command.ts'

/** The log of a command on standard error: lines for people on a terminal, else JSON, which `json` makes it anywhere. */
export function logTo({ err, errTerminal }: World, json = false, notes?: FailureNotes): Log {
  if (errTerminal === undefined || json) return createLog((line) => err(line.trimEnd()))
  return createReadableLog({ write: err, color: errTerminal.color, ...(notes && { notes }) })
}
