import { join } from 'node:path'
import { durationLines, runGate, type Stage, summaryLine } from './gate.ts'
import { install, projectFolder } from './install.ts'
import { createTestFolder, storeTests, testCommand, type TestFolder } from './test-command.ts'

type Gate = (folder: TestFolder, report: string) => Stage[]

const gates: Readonly<Record<string, Gate>> = {
  '': (folder, report) => [
    // Bun's own type checker: without the flag, `bun check` would run the script `check`, which is this file. Code of
    // browsers has other globals, and so projects of its own.
    { name: 'types', command: [bun, 'check', '--no-script', '.', 'src/page', 'test/page'] },
    { name: 'format', command: [bun, 'run', 'fmt', '--check'] },
    { name: 'lint', command: [bun, 'run', 'lint'] },
    { name: 'build', command: folder.buildCommand },
    { name: 'tests', command: testCommand({ report }), environment: folder.environment, report },
  ],
  postgres: (folder, report) => [
    { name: 'build', command: folder.buildCommand },
    {
      name: 'tests on PostgreSQL',
      command: testCommand({ report, paths: storeTests }),
      environment: { ...folder.environment, WEIR_TEST_DATABASE: 'postgres' },
      report,
    },
  ],
}

const bun = process.execPath
const gate = gates[process.argv.slice(2).join(' ')]
if (gate === undefined) {
  // `bun check FILES` runs this script too.
  console.error(
    'Usage: bun run check [postgres]. To check the types of some files: bun check --no-script FILES',
  )
  process.exit(2)
}
process.exitCode = (await install()) ? await check(gate) : 1

/** Runs the gate and returns the exit code. */
async function check(stages: Gate): Promise<number> {
  using folder = createTestFolder()
  const result = await runGate(stages(folder, join(folder.path, 'tests.xml')), {
    folder: projectFolder,
    output: 'inherit',
  })
  for (const line of durationLines(result)) console.log(line)
  if (result.failedStages.length > 0) console.error(`\nFailed: ${result.failedStages.join(', ')}.`)
  console.log(summaryLine(result))
  return result.failedStages.length > 0 ? 1 : 0
}
