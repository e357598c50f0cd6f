import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** The temporary folder of a test run, which is deleted at the end of the scope, or when the run is interrupted. */
export type TestFolder = Disposable & {
  readonly path: string
  /** Builds the executable that the tests start. */
  readonly buildCommand: readonly string[]
  /** Makes the tests start that executable, and keep their files here. */
  readonly environment: Readonly<Record<string, string>>
}

/** Bytes: the tests need a fifth of it. */
const minMemory = 4 * 1024 ** 3

/**
 * Creates it in memory where there is plenty: the tests create and delete so many databases that a disk would cost a
 * third of the processor time.
 */
export function createTestFolder(): TestFolder {
  const path = mkdtempSync(join(memoryFolder() ?? tmpdir(), 'weir-check-'))
  // The servers of PostgreSQL run as another user.
  chmodSync(path, 0o1777)
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 10 })
  const interrupted = () => {
    remove()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupted)
  return {
    path,
    buildCommand: [process.execPath, 'src/build/build.ts', '--into', path],
    // The executable starts in a tenth of the processor time that the source needs.
    environment: { TMPDIR: path, WEIR_TEST_PROGRAM: join(path, 'weir') },
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
