import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { summaryLine, runGate, type Stage } from './gate.ts'
import { install, projectFolder } from './install.ts'

if (process.argv.length > 2) {
  // `bun check FILES` runs this script too.
  console.error('The gate has no arguments. To check the types of some files: bun check --no-script FILES')
  process.exit(2)
}
process.exitCode = (await install()) ? await check() : 1

/** Runs the gate and returns the exit code. */
async function check(): Promise<number> {
  const reports = await mkdtemp(join(tmpdir(), 'weir-check-'))
  try {
    const stages = allStages(join(reports, 'tests.xml'))
    const result = await runGate(stages, { folder: projectFolder, output: 'inherit' })
    if (result.failedStages.length > 0) console.error(`\nFailed: ${result.failedStages.join(', ')}.`)
    console.log(summaryLine(result))
    return result.failedStages.length > 0 ? 1 : 0
  } finally {
    await rm(reports, { recursive: true, force: true })
  }
}

function allStages(report: string): Stage[] {
  const bun = process.execPath
  const reporting = ['--only-failures', '--reporter=junit', `--reporter-outfile=${report}`]
  // Bun reads no timeout from bunfig.toml. A busy machine takes several times as long as an idle one.
  const tests = [bun, 'test', '--timeout', '30000', ...reporting]
  return [
    // Bun's own type checker: without the flag, `bun check` would run the script `check`, which is this file. Code of
    // browsers has other globals, and so projects of its own.
    { name: 'types', command: [bun, 'check', '--no-script', '.', 'src/page', 'test/page'] },
    { name: 'format', command: [bun, 'run', 'fmt', '--check'] },
    { name: 'lint', command: [bun, 'run', 'lint'] },
    { name: 'tests', command: tests, report },
  ]
}
