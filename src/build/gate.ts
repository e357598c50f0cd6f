import { readFile } from 'node:fs/promises'

/** One check of the gate: a command that prints what is wrong and exits with a non-zero code. */
export type Stage = {
  readonly name: string
  readonly command: readonly string[]
  /** The path of the JUnit report, if the stage runs tests. */
  readonly report?: string
}

/** The result of the gate: the tests by outcome, and the names of the failed stages. */
export type GateResult = TestCounts & { readonly failedStages: readonly string[] }

/** The folder in which the gate runs, and what happens to the output of its stages. */
export type GateOptions = { readonly folder: string; readonly output: 'inherit' | 'ignore' }

/** Runs every stage, also after a failed one, so that one run reports all failures. */
export async function runGate(
  stages: readonly Stage[],
  { folder, output }: GateOptions,
): Promise<GateResult> {
  let result: GateResult = { passed: 0, failed: 0, skipped: 0, failedStages: [] }
  for (const stage of stages) {
    if (output === 'inherit') console.log(`── ${stage.name}`)
    const child = Bun.spawn([...stage.command], {
      cwd: folder,
      stdin: 'ignore',
      stdout: output,
      stderr: output,
    })
    const code = await child.exited
    result = addStage(result, stage, code, await readTestCounts(stage))
  }
  return result
}

async function readTestCounts(stage: Stage): Promise<TestCounts> {
  const noTests = { passed: 0, failed: 0, skipped: 0 }
  if (!stage.report) return noTests
  const report = await readFile(stage.report, 'utf8').catch(() => '')
  return countTests(report) ?? noTests
}

function addStage(result: GateResult, stage: Stage, code: number, counts: TestCounts): GateResult {
  // A stage that failed without a failed test counts as one failure: "0 failed" must mean success.
  const failed = code === 0 ? counts.failed : Math.max(1, counts.failed)
  return {
    passed: result.passed + counts.passed,
    failed: result.failed + failed,
    skipped: result.skipped + counts.skipped,
    failedStages: failed > 0 ? [...result.failedStages, stage.name] : result.failedStages,
  }
}

/** Returns the last line of a run, which programs parse too. */
export function summaryLine(result: GateResult): string {
  const line = `${result.passed} passed, ${result.failed} failed`
  return result.skipped > 0 ? `${line}, ${result.skipped} skipped` : line
}

/** The numbers of tests by outcome. */
export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** Reads the totals of a JUnit report; null if it has none. */
export function countTests(report: string): TestCounts | null {
  const totals = /<testsuites [^>]*>/.exec(report)?.[0]
  if (totals === undefined) return null
  const failed = attribute(totals, 'failures') + attribute(totals, 'errors')
  const skipped = attribute(totals, 'skipped')
  return { passed: attribute(totals, 'tests') - failed - skipped, failed, skipped }
}

function attribute(tag: string, name: string): number {
  return Number(new RegExp(` ${name}="(\\d+)"`).exec(tag)?.[1] ?? 0)
}
