// The tests that are too long for the gate, one after the other, with random seeds: bun run test:soak [PART …]. A part is a name below,
// or a piece of the path of a `*.soak.ts` file. WEIR_TEST_SEED repeats a run.
import { projectFolder } from './install.ts'
import { storeTests, testCommand } from './test-command.ts'

type Part = {
  readonly name: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

type Outcome = { readonly name: string; readonly passed: boolean; readonly seconds: number }

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
  const outcomes: Outcome[] = []
  for (const part of named) outcomes.push(await run(part))
  console.log(`\nSoak with WEIR_TEST_SEED=${seed}`)
  for (const { name, passed, seconds } of outcomes)
    console.log(`${passed ? 'passed' : 'FAILED'} ${seconds.toFixed(0).padStart(6)} s  ${name}`)
  const failed = outcomes.filter(({ passed }) => !passed).length
  console.log(`${outcomes.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

async function allParts(): Promise<Part[]> {
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

async function run({ name, command, environment }: Part): Promise<Outcome> {
  console.log(`── ${name}`)
  const startedAt = performance.now()
  const child = Bun.spawn([...command], {
    cwd: projectFolder,
    env: { ...process.env, WEIR_TEST_SEED: seed, ...environment },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    timeout: partTimeoutMs,
  })
  const passed = (await child.exited) === 0
  return { name, passed, seconds: (performance.now() - startedAt) / 1000 }
}
