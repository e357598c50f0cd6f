import { readFile } from 'node:fs/promises'

/** One check of the gate: a command that prints what is wrong and exits with a non-zero code. */
export type Stage = {
  readonly name: string
  readonly command: readonly string[]
  /** Variables in addition to those of the gate. */
  readonly environment?: Readonly<Record<string, string>>
  /** The path of the JUnit report, if the stage runs tests. */
  readonly report?: string
}

/** The result of the gate: the tests by outcome, the names of the failed stages, and what took the time. */
type GateResult = TestCounts & {
  readonly failedStages: readonly string[]
  /** Seconds, in the order of the stages. */
  readonly durations: readonly Duration[]
  /** The test files that took longest, the slowest first; those that ran side by side add up to more than the stage. */
  readonly fileDurations: readonly Duration[]
}

/** The seconds that each stage and file took. */
export type Duration = { readonly name: string; readonly seconds: number }

/** The folder in which stages run, what happens to their output, and when one is ended; never if absent. */
type GateOptions = {
  readonly folder: string
  readonly output: 'inherit' | 'ignore'
  readonly timeoutMs?: number
}

/** Runs every stage, also after a failed one, so that one run reports all failures. */
export async function runGate(stages: readonly Stage[], options: GateOptions): Promise<GateResult> {
  let result = emptyResult
  for (const stage of stages) {
    const { code, seconds } = await runStage(stage, options)
    result = addStage(result, { name: stage.name, seconds }, code, await readReport(stage))
  }
  return result
}

/** Runs one stage; returns its exit code and how long it took. */
export async function runStage(
  { name, command, environment }: Stage,
  { folder, output, timeoutMs }: GateOptions,
): Promise<{ readonly code: number; readonly seconds: number }> {
  if (output === 'inherit') console.log(`── ${name}`)
  const startedAt = performance.now()
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: output,
    stderr: output,
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  })
  return { code: await child.exited, seconds: (performance.now() - startedAt) / 1000 }
}

const emptyResult: GateResult = {
  passed: 0,
  failed: 0,
  skipped: 0,
  failedStages: [],
  durations: [],
  fileDurations: [],
}

type Report = { readonly counts: TestCounts; readonly files: readonly Duration[] }

async function readReport({ report }: Stage): Promise<Report> {
  const text = report === undefined ? '' : await readFile(report, 'utf8').catch(() => '')
  return { counts: countTests(text) ?? { passed: 0, failed: 0, skipped: 0 }, files: readFileDurations(text) }
}

function addStage(result: GateResult, duration: Duration, code: number, report: Report): GateResult {
  const { counts } = report
  // A stage that failed without a failed test counts as one failure: "0 failed" must mean success.
  const failed = code === 0 ? counts.failed : Math.max(1, counts.failed)
  const files = [...result.fileDurations, ...report.files].toSorted(
    (one, other) => other.seconds - one.seconds,
  )
  return {
    passed: result.passed + counts.passed,
    failed: result.failed + failed,
    skipped: result.skipped + counts.skipped,
    failedStages: failed > 0 ? [...result.failedStages, duration.name] : result.failedStages,
    durations: [...result.durations, duration],
    fileDurations: files.slice(0, maxListedFiles),
  }
}

const maxListedFiles = 10

/** Returns the lines that say where the time went. */
export function durationLines({ durations, fileDurations }: GateResult): string[] {
  const stages = durations.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`)
  const lines = fileDurations.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)
  return [`Stages: ${stages.join(', ')}.`, ...(lines.length > 0 ? ['Slowest files:', ...lines] : [])]
}

/** Returns the last line of a run, which programs parse too. */
export function summaryLine(result: GateResult): string {
  const line = `${result.passed} passed, ${result.failed} failed`
  return result.skipped > 0 ? `${line}, ${result.skipped} skipped` : line
}

/** The numbers of tests by outcome. */
type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** Reads the totals of a JUnit report; null if it has none. */
export function countTests(report: string): TestCounts | null {
  const totals = /<testsuites [^>]*>/.exec(report)?.[0]
  if (totals === undefined) return null
  const failed = attribute(totals, 'failures') + attribute(totals, 'errors')
  const skipped = attribute(totals, 'skipped')
  return { passed: attribute(totals, 'tests') - failed - skipped, failed, skipped }
}

/** Reads the duration of each file from a JUnit report. */
function readFileDurations(report: string): Duration[] {
  const suites = report.match(/<testsuite [^>]*>/g) ?? []
  return suites.flatMap((suite) => {
    const [name, file] = [textAttribute(suite, 'name'), textAttribute(suite, 'file')]
    // The suite of a file has its name; those of its `describe` blocks do not.
    return name === file ? [{ name, seconds: attribute(suite, 'time') }] : []
  })
}

function attribute(tag: string, name: string): number {
  return Number(textAttribute(tag, name))
}

function textAttribute(tag: string, name: string): string {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
}
