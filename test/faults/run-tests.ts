import type { Fault } from './fault.ts'

/** The tests to run: files and folders from the root of the checkout, all of them if there are none. */
export type TestRun = Pick<Fault, 'tests' | 'database'> & {
  readonly folder: string
  readonly deadlineMs: number
}

/** The outcome of a run that ends at its first failed test. */
export type TestResult = {
  readonly outcome: 'passed' | 'failed' | 'hung'
  /** The name of the failed test; undefined where the run failed outside of a test. */
  readonly failedTest: string | undefined
  /** What the run has printed. */
  readonly output: string
  readonly seconds: number
}

/** Runs tests as the gate does. Ends a run that exceeds its deadline; rejects if this process is to end. */
export async function runTests({ folder, tests, database, deadlineMs }: TestRun): Promise<TestResult> {
  const startedAt = performance.now()
  const child = Bun.spawn(
    [process.execPath, 'test', '--timeout', '30000', '--bail', '--only-failures', ...tests],
    {
      cwd: folder,
      env: { ...process.env, WEIR_TEST_DATABASE: database },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      // A process group of its own, so that what the tests have started can be ended with them.
      detached: true,
    },
  )
  const output = child.stderr.text()
  const end = await endOf(child, deadlineMs)
  await endGroup(child.pid)
  if (end === 'interrupted') throw new Error('The run was interrupted.')
  const text = await output
  return {
    outcome: end,
    failedTest: /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/m.exec(text)?.[1],
    output: text,
    seconds: (performance.now() - startedAt) / 1000,
  }
}

type End = TestResult['outcome'] | 'interrupted'

async function endOf(child: Bun.Subprocess, deadlineMs: number): Promise<End> {
  let end: End | undefined
  const endAs = (reason: End) => () => {
    end ??= reason
    child.kill()
  }
  const interrupt = endAs('interrupted')
  const timer = setTimeout(endAs('hung'), deadlineMs)
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const code = await child.exited
  clearTimeout(timer)
  process.off('SIGINT', interrupt)
  process.off('SIGTERM', interrupt)
  return end ?? (code === 0 ? 'passed' : 'failed')
}

/** A PostgreSQL of the tests stops, and deletes its files, when it sees that they have ended. */
const graceMs = 4000

/** Waits until the processes that tests have started have ended, and kills those that do not. */
async function endGroup(group: number): Promise<void> {
  for (const deadline = performance.now() + graceMs; performance.now() < deadline;) {
    if (!signalGroup(group, 0)) return
    await Bun.sleep(50)
  }
  signalGroup(group, 'SIGKILL')
}

/** Returns false if the group has no process. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}
