// Measures how long each test file takes and writes test/timings.json, by which the slowest files start first: bun run test:timings.
// A file that is not listed there starts last; the order changes no result.
import { runStage } from './gate.ts'
import { projectFolder } from './install.ts'
import { createTestFolder, testCommand, timingsFile } from './test-command.ts'

type Timings = { readonly version: 1; readonly files: Readonly<Record<string, number>> }

/** Milliseconds: quicker files are not worth a line. */
const minListed = 1000

await Bun.write(`${projectFolder}/${timingsFile}`, textOf({ version: 1, files: {} }))
using folder = createTestFolder()
Bun.spawnSync([...folder.buildCommand], { cwd: projectFolder })
const command = [...testCommand(), '--update-timings']
const tests = { name: 'tests', command, environment: folder.environment }
process.exitCode = (await runStage(tests, { folder: projectFolder, output: 'inherit' })).code
const measured = (await Bun.file(`${projectFolder}/${timingsFile}`).json()) as Timings
const listed = Object.entries(measured.files)
  .filter(([, duration]) => duration >= minListed)
  .map(([file, duration]) => [file, Math.round(duration / 100) * 100] as const)
await Bun.write(
  `${projectFolder}/${timingsFile}`,
  textOf({
    version: 1,
    files: Object.fromEntries(listed.toSorted(([one], [other]) => (one < other ? -1 : 1))),
  }),
)

function textOf(timings: Timings): string {
  return `${JSON.stringify(timings, null, 2)}\n`
}
