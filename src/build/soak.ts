// The tests that are too long for the gate, one after the other, with random seeds: bun run test:soak [PART …]. A part is a name below,
// or a piece of the path of a `*.soak.ts` file. WEIR_TEST_SEED repeats a run.
import { runStage, type Stage } from './gate.ts'
import { projectFolder } from './install.ts'
import { storeTests, testCommand } from './test-command.ts'

const partTimeoutMs = 60 * 60_000
const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())

process.exitCode = await soak(process.argv.slice(2))

/** Runs the parts whose names contain one of these texts, or all, and returns the exit code. */
async function soak(chosen: readonly string[]): Promise<number> {
  const parts = await allParts()
  const named = parts.filter(({ name }) => chosen.length === 0 || chosen.some((text) => name.includes(text)))
  if (named.length === 0) {
    console.error(`No such part. The parts: ${parts.map(({ name }) => name).join(', ')}`)
    return 2
  }
  const outcomes: { readonly name: string; readonly passed: boolean; readonly seconds: number }[] = []
  for (const part of named) {
    const environment = { WEIR_TEST_SEED: seed, ...part.environment }
    const options = { folder: projectFolder, output: 'inherit', timeoutMs: partTimeoutMs } as const
    const { code, seconds } = await runStage({ ...part, environment }, options)
    outcomes.push({ name: part.name, passed: code === 0, seconds })
  }
  console.log(`\nSoak with WEIR_TEST_SEED=${seed}`)
  for (const { name, passed, seconds } of outcomes)
    console.log(`${passed ? 'passed' : 'FAILED'} ${seconds.toFixed(0).padStart(6)} s  ${name}`)
  const failed = outcomes.filter(({ passed }) => !passed).length
  console.log(`${outcomes.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

async function allParts(): Promise<Stage[]> {
  const files = await Array.fromAsync(new Bun.Glob('test/**/*.soak.ts').scan({ cwd: projectFolder }))
  return [
    { name: 'suite', command: testCommand() },
    {
      name: 'postgres',
      command: testCommand({ paths: storeTests }),
      environment: { WEIR_TEST_DATABASE: 'postgres' },
    },
    ...files
      .toSorted()
      .map((name) => ({ name, command: [process.execPath, 'test', '--timeout=1800000', `./${name}`] })),
  ]
}
