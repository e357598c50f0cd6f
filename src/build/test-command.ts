import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

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

/** Tests wait for sockets, children and disks half of the time: beside four processes, two cores are idle at times. */
const testProcesses = Math.max(5, availableParallelism())

/** The temporary folder of a test run, which is deleted at the end of the scope, or when the run is interrupted. */
export type TestFolder = Disposable & {
  readonly path: string
  /** Builds the executable that the tests start. */
  readonly buildCommand: readonly string[]
  /** Makes the tests start that executable and keep their files here, and freed memory where there is plenty. */
  readonly environment: Readonly<Record<string, string>>
}

/** Bytes: the tests need half of it. */
const minMemory = 4 * 1024 ** 3

/**
 * Makes Bun's allocator keep what a test has freed, which the next one needs: to give it back to the system and ask for it
 * again takes an eighth of the processor time.
 */
const keptMemory = { MIMALLOC_PURGE_DELAY: '-1' }

/** Bytes: five processes that keep their memory have seven in the end, and the folder two. */
const minKeptMemory = 14 * 1024 ** 3

/** To delete the folder: for ten seconds. */
const maxAttempts = 100
const attemptIntervalMs = 100

/**
 * Creates it in memory where there is plenty: the tests create and delete so many databases that a disk would cost a
 * third of the processor time.
 */
export function createTestFolder(): TestFolder {
  const path = mkdtempSync(join(memoryFolder() ?? tmpdir(), 'weir-check-'))
  // The servers of PostgreSQL run as another user.
  chmodSync(path, 0o1777)
  const remove = () => {
    // While a program that the tests have ended, such as a browser, still changes its files, Bun stops halfway, without an error.
    for (let attempt = 0; attempt < maxAttempts && existsSync(path); attempt++) {
      if (attempt > 0) Bun.sleepSync(attemptIntervalMs)
      rmSync(path, { recursive: true, force: true, maxRetries: 10 })
    }
  }
  const interrupted = () => {
    remove()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupted)
  return {
    path,
    buildCommand: [process.execPath, 'src/build/build.ts', '--into', path],
    environment: {
      TMPDIR: path,
      // The executable starts in a tenth of the processor time that the source needs.
      WEIR_TEST_PROGRAM: join(path, 'weir'),
      ...(process.availableMemory() >= minKeptMemory && keptMemory),
    },
    [Symbol.dispose]: remove,
  }
}

/** Returns the file system in memory of Linux, unless it is small, as in a container, or has no executable files. */
function memoryFolder(): string | undefined {
  const folder = '/dev/shm'
  try {
    const mounted = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1]
    const isExecutable = mounted !== undefined && !mounted.split(',').includes('noexec')
    const { bavail, bsize } = statfsSync(folder)
    const isLarge = Math.min(freemem(), bavail * bsize) >= minMemory
    return isLarge && isExecutable ? folder : undefined
  } catch {
    // Other systems have no such folder.
    return undefined
  }
}
