import { availableParallelism } from 'node:os'
import { CommandError } from '../../errors.ts'

/**
 * Returns the number of worker processes for this setting: 0 is one for each core. Throws `CommandError` if the system
 * cannot share a port among several.
 */
export function workerCount(setting: number, platform: NodeJS.Platform = process.platform): number {
  const count = setting === 0 ? availableParallelism() : setting
  if (count === 1 || platform === 'linux') return count
  if (setting === 0) return 1
  throw new CommandError(
    `Several workers require Linux, where processes can share a port. Start weir without --workers, or with --workers 1.`,
  )
}
