import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Contender, Place, Running } from './contender.ts'
import type { Job, LoadShape, Measured } from './job.ts'
import { clientOf } from './run-client.ts'
import type { Behaviour } from './upstream.ts'
import { lasting, type Workload } from './workload.ts'

/** One contender that is to do one kind of work, in one round. */
export type Measurement = {
  readonly contender: Contender
  readonly program: Running
  readonly workload: Workload
  readonly place: Place
  /** Milliseconds; see `Job`. */
  readonly duration: number
  readonly round: number
  readonly syscalls?: boolean
}

/** Code that has run for this many milliseconds does not become much faster. */
const maxWarmUpMs = 5000

/** Streams that are sent at once before streams at a pace are measured. */
const warmUpStreams = 100

/** Measures a contender; rejects if a reply was invalid. */
export async function measureContender(measurement: Measurement): Promise<Measured> {
  const { contender, program, workload, place, round } = measurement
  if (!workload.fresh) {
    // What is in memory afterwards is not only of this work.
    return { ...(await measure(measurement, program, round === 0)), resident: null, perStream: null }
  }
  const folder = join(place.folder, `${workload.name}-${round}`, contender.name)
  await mkdir(folder, { recursive: true })
  const started = await contender.start({ ...place, folder })
  if (typeof started === 'string') throw new Error(started)
  try {
    return await measure(measurement, started, true)
  } finally {
    await started.stop()
  }
}

async function measure(measurement: Measurement, program: Running, cold: boolean): Promise<Measured> {
  const { place, duration, syscalls = false } = measurement
  const workload = lasting(measurement.workload, duration)
  const needsWarmUp = cold && program.pid !== null
  const job: Job = {
    ...target(measurement, program),
    body: workload.body,
    load: workload.load,
    warmUp: Math.min((needsWarmUp ? 4 : 0.2) * duration, maxWarmUpMs),
    duration,
    pid: program.pid,
    syscalls,
  }
  if (needsWarmUp && workload.load.type === 'paced') await warmUp(job, workload, place)
  await behave(place, workload.upstream)
  return clientOf(job)
}

/** Where a contender is sent the work, and how a valid reply ends. */
function target({ contender, workload }: Measurement, { url, headers }: Running) {
  const { path, nativePath, ending, nativeEnding } = workload
  return {
    url: url + (contender.gateway ? path : nativePath),
    headers: headers(workload),
    ending: contender.gateway ? ending : nativeEnding,
  }
}

/** Sends the same streams without their pace. */
async function warmUp(job: Job, workload: Workload, place: Place): Promise<void> {
  await behave(place, { ...workload.upstream, interval: 0, together: 1 })
  const load: LoadShape = { type: 'counted', connections: 16, requests: warmUpStreams }
  await clientOf({ ...job, load, syscalls: false })
}

async function behave({ upstream }: Place, behaviour: Behaviour): Promise<void> {
  const query = Object.entries(behaviour).map(([name, value]) => [name, String(value)])
  await fetch(`${upstream}/behave?${new URLSearchParams(Object.fromEntries(query))}`)
}
