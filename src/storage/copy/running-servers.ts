import type { CopySource } from '../ports/copy.ts'

/** A server gives a sign of life every two seconds; one that was killed gives none. */
const watchTimeoutMs = 6000
const pollIntervalMs = 250

/**
 * Whether servers use the database, as their signs of life show. Resolves at once if none is registered; those that were
 * killed are watched for some seconds.
 */
export async function hasRunningServers(
  source: Pick<CopySource, 'beats'>,
  timeoutMs = watchTimeoutMs,
): Promise<boolean> {
  const first = new Map((await source.beats()).map(({ id, beat }) => [id, beat]))
  const deadline = performance.now() + timeoutMs
  for (let registered = first.size > 0; registered && performance.now() < deadline;) {
    await Bun.sleep(pollIntervalMs)
    const beats = await source.beats()
    if (beats.some(({ id, beat }) => first.get(id) !== beat)) return true
    registered = beats.length > 0
  }
  return false
}
