import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'
import type { Job, Measured } from './job.ts'

/** Milliseconds for one measurement, of the slowest streams too. */
const deadline = 90_000

/** Runs one measurement in its own process; rejects if a reply was invalid. */
export async function clientOf(job: Job): Promise<Measured> {
  const client = Bun.spawn([process.execPath, join(projectFolder, 'test/bench/client.ts')], {
    cwd: projectFolder,
    stdin: new Blob([JSON.stringify(job)]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: deadline,
  })
  const [out, complaint, code] = await Promise.all([
    client.stdout.text(),
    client.stderr.text(),
    client.exited,
  ])
  if (code === 0) return JSON.parse(out) as Measured
  throw new Error(/error: (.*)/.exec(complaint)?.[1] ?? `the client ended with ${code}`)
}
