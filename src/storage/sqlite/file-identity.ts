import { type Stats, statSync } from 'node:fs'
import { FileReplacedError } from './sqlite-errors.ts'

/**
 * Looks where the files of an open database lie, and gives a check that throws once they lie there no more: what is
 * written then lands in files that no later start reads.
 */
export function watchFileIdentity(file: string): () => void {
  const checks = [file, `${file}-wal`].map(watchFile)
  const check = () => checks.forEach((checkFile) => checkFile())
  check()
  return check
}

/** A look now and then costs little: `fs.watch` would wake up at every commit. */
function watchFile(file: string): () => void {
  let first: Stats | undefined
  return () => {
    const now = statSync(file, { throwIfNoEntry: false })
    // The log may be made by the first write only.
    first ??= now
    if (first === undefined || same(first, now)) return
    throw new FileReplacedError(`${file} ${now === undefined ? 'is gone' : 'is another file now'}.`)
  }
}

function same(first: Stats, now: Stats | undefined): boolean {
  return now !== undefined && now.ino === first.ino && now.dev === first.dev
}
