import { homedir } from 'node:os'
import type { World } from './command.ts'

/** The machine as this process sees it. */
export function processWorld(): World {
  return {
    environment: process.env,
    cwd: process.cwd(),
    home: homedir(),
    out: lineWriter(process.stdout),
    err: lineWriter(process.stderr),
  }
}

function lineWriter(stream: NodeJS.WriteStream): (text: string) => void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough, such as `head`, is no failure.
    if (error.code !== 'EPIPE') throw error
  })
  return (text) => void stream.write(`${text}\n`)
}
