import { availableParallelism } from 'node:os'

/**
 * The folders and files whose tests depend on the store: they run on PostgreSQL too. All others run once, on SQLite, also
 * those of the same folders about sockets, protocols and the memory of bodies.
 */
export const storeTests = [
  'test/api/background',
  'test/api/budgets',
  'test/api/limits/call-limits.test.ts',
  'test/api/limits/embeddings.test.ts',
  'test/api/limits/key-limits.test.ts',
  'test/api/limits/rate-limits.test.ts',
  // Reads what is stored.
  'test/api/limits/released-memory.test.ts',
  'test/api/money',
  'test/api/organizations',
  'test/api/stored',
  'test/api/webhooks',
  'test/api/usage',
  // What a client that leaves is charged, and what a kill or a broken stream leaves in the database.
  'test/reliability/faults/client-disconnects.test.ts',
  'test/reliability/faults/kills.test.ts',
  'test/reliability/faults/upstream-breaking.test.ts',
  // Texts and numbers that one database accepts and the other does not.
  'test/reliability/faults/fuzz.test.ts',
  'test/reliability/faults/shapes.test.ts',
  'test/reliability/faults/upstream-malformed.test.ts',
  'test/reliability/money',
]

type TestRun = {
  /** Where the JUnit report goes; none if absent. */
  readonly report?: string
  /** The files or folders; all if absent. */
  readonly paths?: readonly string[]
}

/** Milliseconds for each file; `bun run test:timings` writes it. */
export const timingsFile = 'test/timings.json'

/** Returns the command that runs tests in several processes, the slowest files first. */
export function testCommand({ report, paths = [] }: TestRun = {}): string[] {
  const reporting = report === undefined ? [] : ['--reporter=junit', `--reporter-outfile=${report}`]
  return [
    process.execPath,
    'test',
    // Bun reads no timeout from bunfig.toml. A busy machine takes several times as long as an idle one.
    '--timeout=120000',
    `--parallel=${testProcesses}`,
    // A process loads the modules once, not for each of its files: a third less processor time.
    '--no-isolate',
    `--timings=${timingsFile}`,
    '--only-failures',
    ...reporting,
    ...paths,
  ]
}

/** Tests wait for sockets, children and disks half of the time, so that two processes a core keep a small machine busy. */
const testProcesses = Math.max(4, availableParallelism())
