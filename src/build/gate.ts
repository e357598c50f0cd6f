import { readFile } from 'node:fs/promises'

/** One part of the gate: a program that says what is wrong and ends with another code than 0. */
export type Stage = {
  readonly name: string
  readonly command: readonly string[]
  /** The file that a stage with tests of its own writes its JUnit report to. */
  readonly report?: string
}

/** How the gate ended: the tests by outcome, and the names of the stages that failed. */
export type GateResult = TestCounts & { readonly failedStages: readonly string[] }

/** Where the gate runs, and whether what its stages say is shown. */
export type GateOptions = { readonly folder: string; readonly output: 'inherit' | 'ignore' }

/** Runs every stage, also after one that failed, so that one run tells all there is to mend. */
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
  // A stage that failed without a failed test counts as one failure: "0 failed" must mean that all is well.
  const failed = code === 0 ? counts.failed : Math.max(1, counts.failed)
  return {
    passed: result.passed + counts.passed,
    failed: result.failed + failed,
    skipped: result.skipped + counts.skipped,
    failedStages: failed > 0 ? [...result.failedStages, stage.name] : result.failedStages,
  }
}

/** The last line of a run, for people and for programs that read it. */
export function summaryLine(result: GateResult): string {
  const line = `${result.passed} passed, ${result.failed} failed`
  return result.skipped > 0 ? `${line}, ${result.skipped} skipped` : line
}

/** The tests of one run by outcome. */
export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** The totals of a JUnit report; null where there is none to read. */
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
