import { afterAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countTests, durationLines, runGate, type Stage, summaryLine } from '../../src/build/gate.ts'
import { createTestFolder, storeTests } from '../../src/build/test-command.ts'
import { projectFolder } from '../support/source.ts'

const folder = await mkdtemp(join(tmpdir(), 'weir-gate-'))
// What these runs say would be read as the outcome of the run that they are part of.
const quietly = { folder, output: 'ignore' } as const

afterAll(() => rm(folder, { recursive: true, force: true }))

test('the gate counts tests like the real test run', async () => {
  const result = await runGate([await testRun('pass(); pass(); skip()')], quietly)
  expect(result).toMatchObject({ passed: 2, failed: 0, skipped: 1, failedStages: [] })
  expect(summaryLine(result)).toBe('2 passed, 0 failed, 1 skipped')
})

test('a failed test is counted once and its stage is named', async () => {
  const result = await runGate([await testRun('pass(); fail()')], quietly)
  expect(result).toMatchObject({ passed: 1, failed: 1, skipped: 0, failedStages: ['tests'] })
})

test('a failed stage counts as a failure, and the stages after it still run', async () => {
  const result = await runGate([ending('types', 1), await testRun('pass()')], quietly)
  expect(result).toMatchObject({ passed: 1, failed: 1, skipped: 0, failedStages: ['types'] })
  expect(summaryLine(result)).toBe('1 passed, 1 failed')
})

test('the gate says how long each stage and the slowest files took', async () => {
  const result = await runGate([ending('types', 0), await testRun('describe("a group", pass)')], quietly)
  expect(durationLines(result)).toEqual([
    expect.stringMatching(/^Stages: types \d+ s, tests \d+ s\.$/),
    'Slowest files:',
    // One line for the file, and none for the group of tests in it.
    expect.stringMatching(/^ +\d+\.\d s {2}\S+\.test\.ts$/),
  ])
})

test('a test run that ends before its report is a failure', async () => {
  const result = await runGate([{ ...ending('tests', 3), report: join(folder, 'none.xml') }], quietly)
  expect(result.failedStages).toEqual(['tests'])
  expect(summaryLine(result)).toBe('0 passed, 1 failed')
})

test.each(storeTests)('%s, which the gate repeats on PostgreSQL, exists', (path) => {
  expect(existsSync(join(projectFolder, path))).toBe(true)
})

test('the folder of the tests is deleted also while a program deletes its own files in it', async () => {
  const { path, ...folder } = createTestFolder()
  const own = Array.from({ length: 3000 }, (_, index) => join(path, `own-${index}`))
  for (const name of own) await mkdir(name)
  const script = `const { rmdirSync } = require('node:fs')
    console.log('begun')
    for (let index = 0; index < ${own.length}; index++)
      try { rmdirSync(process.argv[1] + '/own-' + index) } catch {}`
  await using program = Bun.spawn([process.execPath, '-e', script, path], { stdout: 'pipe' })
  await program.stdout.getReader().read()
  folder[Symbol.dispose]()
  expect(existsSync(path)).toBe(false)
})

test('a text that is not a report has no counts', () => {
  expect(countTests('')).toBeNull()
  expect(countTests('<html></html>')).toBeNull()
})

function ending(name: string, code: number): Stage {
  return { name, command: [process.execPath, '-e', `process.exit(${code})`] }
}

/** A test run of its own, with its own report. */
async function testRun(body: string): Promise<Stage> {
  const name = crypto.randomUUID()
  const file = join(folder, `${name}.test.ts`)
  await Bun.write(
    file,
    `import { describe, expect, test } from 'bun:test'
    const pass = () => test('passes', () => expect(1).toBe(1))
    const fail = () => test('fails', () => expect(1).toBe(2))
    const skip = () => test.skip('skipped', () => {})
    ${body}`,
  )
  const report = join(folder, `${name}.xml`)
  const output = [`--reporter=junit`, `--reporter-outfile=${report}`]
  return { name: 'tests', command: [process.execPath, 'test', ...output, file], report }
}
