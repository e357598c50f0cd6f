import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Why a server cannot keep these files in the folder, as a sentence; undefined where it can. What is missing it would
 * create.
 */
export function dataFolderFault(folder: string, files: readonly string[]): string | undefined {
  const existing = nearestExisting(folder)
  if (!statSync(existing, { throwIfNoEntry: false })?.isDirectory()) return `${existing} is not a folder.`
  const refused = accessError(existing, constants.W_OK | constants.X_OK)
  if (refused === 'EROFS') return `${existing} is on a read-only file system.`
  if (refused !== undefined) return `This user may not write in ${existing}.`
  const present = files.map((name) => join(folder, name)).filter((file) => existsSync(file))
  const closed = present.find((file) => accessError(file, constants.R_OK | constants.W_OK) !== undefined)
  return closed && `This user may not read and write ${closed}.`
}

/** The code of the error with which the system refuses this access. */
function accessError(path: string, mode: number): string | undefined {
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
