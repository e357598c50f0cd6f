import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Why a server cannot keep its database in the folder, as a sentence; undefined where it can. It may create the folder. */
export function dataFolderFault(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  if (!statSync(existing, { throwIfNoEntry: false })?.isDirectory()) return `${existing} is not a folder.`
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `This user may not write in ${existing}.`
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder))
}
