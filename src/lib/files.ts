import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Writes a file or a folder to disk. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** Writes a complete file to disk and gives it its name, which replaces another file. */
export function moveIntoPlace(part: string, target: string): void {
  syncToDisk(part)
  renameSync(part, target)
  // Windows cannot sync a folder, and needs none of it.
  if (process.platform !== 'win32') syncToDisk(dirname(target))
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

/** Writes a new file; returns false if it exists. A failure, such as a full disk, leaves nothing behind. */
export function writeWithoutOverwrite(file: string, text: string): boolean {
  if (existsSync(file)) return false
  const part = `${file}.${process.pid}.part`
  try {
    writeFileSync(part, text, { flag: 'wx' })
    syncToDisk(part)
    return moveWithoutOverwrite(part, file)
  } finally {
    rmSync(part, { force: true })
  }
}

/** Creates the empty file and its folder if they are missing, readable only by their owner. */
export function createPrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
}
