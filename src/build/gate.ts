import { readFile } from 'node:fs/promises'
import { countTests, type TestCounts } from './test-report.ts'

/** One part of the gate: a program that says what is wrong and ends with another code than 0. */
export type Stage = {
  readonly name: string
  readonly command: readonly string[]
  /** The file that a stage with tests of its own writes its JUnit report to. */
  readonly report?: string
}

/** How the gate ended: the tests by outcome, and the names of the stages that failed. */
export type Verdict = TestCounts & { readonly broken: readonly string[] }

/** Where the gate runs, and whether what its stages say is shown. */
export type GateOptions = { readonly folder: string; readonly output: 'inherit' | 'ignore' }

/** Runs every stage, also after one that failed, so that one run tells all there is to mend. */
export async function runGate(stages: readonly Stage[], { folder, output }: GateOptions): Promise<Verdict> {
  let verdict: Verdict = { passed: 0, failed: 0, skipped: 0, broken: [] }
  for (const stage of stages) {
    if (output === 'inherit') console.log(`── ${stage.name}`)
    const running = Bun.spawn([...stage.command], {
      cwd: folder,
      stdin: 'ignore',
      stdout: output,
      stderr: output,
    })
    const code = await running.exited
    verdict = addStage(verdict, stage, code, await countsOf(stage))
  }
  return verdict
}

async function countsOf(stage: Stage): Promise<TestCounts> {
  const nothing = { passed: 0, failed: 0, skipped: 0 }
  if (!stage.report) return nothing
  const report = await readFile(stage.report, 'utf8').catch(() => '')
  return countTests(report) ?? nothing
}

function addStage(verdict: Verdict, stage: Stage, code: number, counts: TestCounts): Verdict {
  // A stage that failed without a failed test counts as one failure: "0 failed" must mean that all is well.
  const failed = code === 0 ? counts.failed : Math.max(1, counts.failed)
  return {
    passed: verdict.passed + counts.passed,
    failed: verdict.failed + failed,
    skipped: verdict.skipped + counts.skipped,
    broken: failed > 0 ? [...verdict.broken, stage.name] : verdict.broken,
  }
}

/** The last line of a run, for people and for programs that read it. */
export function closingLine(verdict: Verdict): string {
  const line = `${verdict.passed} passed, ${verdict.failed} failed`
  return verdict.skipped > 0 ? `${line}, ${verdict.skipped} skipped` : line
}
