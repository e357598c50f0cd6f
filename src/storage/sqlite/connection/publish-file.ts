import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync } from 'node:fs'

/** Writes a file or a folder to disk. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/**
 * Gives a complete file its name; returns false if the target exists, also if it was created meanwhile. The file may keep
 * its first name.
 */
export function moveWithoutOverwrite(part: string, target: string): boolean {
  try {
    // A link fails if the target exists; some file systems have no links.
    linkSync(part, target)
  } catch {
    if (existsSync(target)) return false
    renameSync(part, target)
  }
  return true
}
