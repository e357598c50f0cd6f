import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Why a server cannot keep these files in the folder, as a sentence; undefined where it can. What is missing it would
 * create.
 */
export function dataFolderFault(folder: string, files: readonly string[]): string | undefined {
  const existing = nearestExisting(folder)
  if (!statSync(existing, { throwIfNoEntry: false })?.isDirectory()) return `${existing} is not a folder.`
  if (!mayAccess(existing, constants.W_OK | constants.X_OK)) return `This user may not write in ${existing}.`
  const present = files.map((name) => join(folder, name)).filter((file) => existsSync(file))
  const closed = present.find((file) => !mayAccess(file, constants.R_OK | constants.W_OK))
  return closed && `This user may not read and write ${closed}.`
}

function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder))
}
