import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
}

/** Returns why a file cannot be read, as a clause without a full stop. */
export function fileErrorReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  return reasons[code ?? ''] ?? code ?? 'unknown reason'
}

/**
 * Returns why a server cannot store these files in the folder, as a sentence, or undefined if it can. A missing folder or
 * file is not a problem: the server creates it.
 */
export function dataFolderProblem(folder: string, files: readonly string[]): string | undefined {
  const existing = nearestExisting(folder)
  if (!statSync(existing, { throwIfNoEntry: false })?.isDirectory()) return `${existing} is not a folder.`
  const folderError = accessErrorCode(existing, constants.W_OK | constants.X_OK)
  if (folderError === 'EROFS') return `${existing} is on a read-only file system.`
  if (folderError !== undefined) return `No permission to write to ${existing}.`
  const existingFiles = files.map((name) => join(folder, name)).filter((file) => existsSync(file))
  const inaccessible = existingFiles.find(
    (file) => accessErrorCode(file, constants.R_OK | constants.W_OK) !== undefined,
  )
  return inaccessible && `No permission to read and write ${inaccessible}.`
}

/** Returns the error code if the system denies this access, or undefined. */
function accessErrorCode(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder))
}
