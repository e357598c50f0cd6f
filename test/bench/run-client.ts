import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'
import type { Job, Measured } from './job.ts'

/** Milliseconds for one measurement, besides its duration; the slowest proxies need most of it for their warm-up. */
const marginMs = 90_000
/** Milliseconds for each request of a fixed number of them. */
const perRequestMs = 20

/** Runs one measurement in its own process; rejects if a reply was invalid. */
export async function clientOf(job: Job): Promise<Measured> {
  const client = Bun.spawn([process.execPath, join(projectFolder, 'test/bench/client.ts')], {
    cwd: projectFolder,
    stdin: new Blob([JSON.stringify(job)]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: deadlineOf(job),
  })
  const [out, complaint, code] = await Promise.all([
    client.stdout.text(),
    client.stderr.text(),
    client.exited,
  ])
  if (code === 0) return JSON.parse(out) as Measured
  throw new Error(/error: (.*)/.exec(complaint)?.[1] ?? `the client ended with ${code}`)
}

function deadlineOf({ load, duration, warmUp }: Job): number {
  const requests = load.type === 'counted' ? load.requests : 0
  // A closed load has two parts of that duration.
  return marginMs + warmUp + 2 * duration + requests * perRequestMs
}
