import type { Log } from '../../lib/log.ts'
import type { DatabaseLocation } from '../database-location.ts'
import type { CopySource, CopyTarget } from '../ports/copy.ts'
import * as sqlite from '../sqlite/copy.ts'
import { copiedTables } from './copied-tables.ts'

/** Opens the database that is copied; rejects with an error for the operator if there is none. */
export async function openCopySource(database: DatabaseLocation): Promise<CopySource> {
  if (typeof database === 'string') return sqlite.openCopySource(database, copiedTables)
  // Loaded only when it is used, because the driver would delay every command.
  const postgres = await import('../postgres/copy-source.ts')
  return await postgres.openCopySource(database, copiedTables)
}

/** Opens the database into which is copied; an error for the operator says why it cannot be used. */
export async function openCopyTarget(database: DatabaseLocation, log: Log): Promise<CopyTarget> {
  if (typeof database === 'string') return sqlite.openCopyTarget(database, log)
  const postgres = await import('../postgres/copy-target.ts')
  return postgres.openCopyTarget(database, copiedTables, log)
}

/** A server gives a sign of life every two seconds; one that was killed gives none. */
const watchTimeoutMs = 6000
const pollIntervalMs = 250

/**
 * Whether servers use the database, as their signs of life show. Resolves at once if none is registered; those that were
 * killed are watched for some seconds.
 */
export async function hasRunningServers(source: Pick<CopySource, 'beats'>): Promise<boolean> {
  const first = new Map((await source.beats()).map(({ id, beat }) => [id, beat]))
  const deadline = performance.now() + watchTimeoutMs
  for (let registered = first.size > 0; registered && performance.now() < deadline;) {
    await Bun.sleep(pollIntervalMs)
    const beats = await source.beats()
    if (beats.some(({ id, beat }) => first.get(id) !== beat)) return true
    registered = beats.length > 0
  }
  return false
}
