import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closingLine, runGate, type Stage } from './gate.ts'
import { install, projectFolder } from './install.ts'

if (process.argv.length > 2) {
  // `bun check FILES` arrives here too.
  console.error('The whole gate takes no arguments. For the types of some files: bun check --no-script FILES')
  process.exit(2)
}
process.exitCode = (await install()) ? await check() : 1

/** Runs all of the gate and gives the exit code. */
async function check(): Promise<number> {
  const reports = await mkdtemp(join(tmpdir(), 'weir-check-'))
  try {
    const stages = allStages(join(reports, 'tests.xml'))
    const verdict = await runGate(stages, { folder: projectFolder, output: 'inherit' })
    if (verdict.broken.length > 0) console.error(`\nFailed: ${verdict.broken.join(', ')}.`)
    console.log(closingLine(verdict))
    return verdict.broken.length > 0 ? 1 : 0
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
    // Bun's own type checker: without the flag, `bun check` would run the script `check`, which is this file.
    { name: 'types', command: [bun, 'check', '--no-script'] },
    { name: 'format', command: [bun, 'run', 'fmt', '--check'] },
    { name: 'lint', command: [bun, 'run', 'lint'] },
    { name: 'tests', command: tests, report },
  ]
}
