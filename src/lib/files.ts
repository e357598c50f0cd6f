import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { errorCode } from './platform-failure.ts'

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
  return withPart(file, text, undefined, (part) => {
    syncToDisk(part)
    return moveWithoutOverwrite(part, file)
  })
}

/**
 * Writes a file, which keeps its mode and its owner if it exists. A failure, such as a full disk, leaves the old text. A
 * symbolic link is followed.
 */
export function replaceFile(file: string, text: string): void {
  const target = linkTarget(file)
  const replaced = statSync(target, { throwIfNoEntry: false })
  // A new file could take the place of one that may not be written.
  if (replaced) accessSync(target, constants.W_OK)
  try {
    withPart(target, text, replaced, (part) => moveIntoPlace(part, target))
  } catch (error) {
    if (!replaced || !isIrreplaceable(error)) throw error
    writeFileSync(target, text)
  }
}

/** The path that a symbolic link leads to, where there may be no file. */
function linkTarget(file: string): string {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file
  return linkTarget(resolve(realpathSync(dirname(file)), readlinkSync(file)))
}

/** Such as a file that is mounted alone, is in a folder of another account, or has an owner who cannot be given to another. */
function isIrreplaceable(error: unknown): boolean {
  return ['EACCES', 'EBUSY', 'EPERM', 'EROFS', 'EXDEV'].includes(errorCode(error) ?? '')
}

/** Writes a file beside another one, with the mode and the owner of that one, and deletes it unless it was moved. */
function withPart<T>(file: string, text: string, replaced: Stats | undefined, move: (part: string) => T): T {
  const part = `${file}.${process.pid}.part`
  try {
    writeFileSync(part, text, { flag: 'wx', ...(replaced && { mode: replaced.mode }) })
    if (replaced) {
      chownSync(part, replaced.uid, replaced.gid)
      // Without the umask.
      chmodSync(part, replaced.mode)
    }
    return move(part)
  } finally {
    rmSync(part, { force: true })
  }
}

/** Creates the empty file and its folder if they are missing, readable only by their owner. */
export function createPrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
}
