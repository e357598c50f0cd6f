import { shortText } from '../../lib/text.ts'
import type { CliContext } from '../context.ts'
import type { NotImported } from './source.ts'

/** Prints what was not imported on standard error, a line each. */
export function reportNotes(notes: readonly NotImported[], context: CliContext): void {
  for (const { path, reason } of notes) context.err(`${shortText(path, 200)}: ${reason}`)
}

/** Formats a number of things: `1 model`, `2 models`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
