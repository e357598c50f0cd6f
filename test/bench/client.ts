// The clients of one measurement: bun test/bench/client.ts JOB. The result is printed as JSON, of the type Measured.
import { requestBytes } from './connection.ts'
import { runClosed } from './closed-load.ts'
import { runCounted } from './counted-load.ts'
import type { Job } from './job.ts'
import { runPaced } from './paced-load.ts'
import { runSteady } from './steady-load.ts'

const job = JSON.parse(await Bun.stdin.text()) as Job
const url = new URL(job.url)
const request = requestBytes(url, job.headers, job.body)
const run = { closed: runClosed, counted: runCounted, steady: runSteady, paced: runPaced }[job.load.type]
console.log(JSON.stringify(await run(url, request, job)))
process.exit(0)
