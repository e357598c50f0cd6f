// Reserves and settles for an organization with many callers, for so many milliseconds, and prints what was written:
// bun test/bench/write-loop.ts FILE ORGANIZATION MILLISECONDS. Several of them share one SQLite file.
import { createLog } from '../../src/lib/log.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { requestOf } from '../unit/storage/support/ledger-fixture.ts'

/** What one process has written. */
export type WriteLoopResult = {
  /** Reservations and settlements. */
  readonly writes: number
  readonly commits: number
  /** Writes that were rejected because the database was locked for too long. */
  readonly failures: number
  /** Milliseconds of the slowest write. */
  readonly slowest: number
}

/** As many as a busy worker has. */
const callers = 64

const [file = '', organization = '', duration = '0'] = process.argv.slice(2)
const storage = await openStorage(
  file,
  createLog(() => {}),
  { shared: true },
)
const endsAt = performance.now() + Number(duration)
let [writes, failures, slowest] = [0, 0, 0]

async function timed(write: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now()
  try {
    await write()
    writes++
  } catch {
    failures++
  }
  slowest = Math.max(slowest, performance.now() - startedAt)
}

async function call(): Promise<void> {
  while (performance.now() < endsAt) {
    const request = requestOf(organization)
    await timed(() => storage.ledger.reserve({ request, amount: 1000n, promptCost: 100n, promptTokens: 1 }))
    await timed(() => storage.ledger.settle(request, { status: 200, cost: 500n }))
  }
}

await Promise.all(Array.from({ length: callers }, call))
const { commits } = storage.writerStats()
console.log(JSON.stringify({ writes, commits, failures, slowest } satisfies WriteLoopResult))
await storage.close()
process.exit(0)
