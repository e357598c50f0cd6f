import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates the empty file and its folder if they are missing, readable only by their owner. */
export function createPrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
}
