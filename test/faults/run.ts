// bun run test:faults [NUMBER or part of a name]... [--whole]: applies each deliberate fault to a copy of the checkout, and
// runs the tests that have to find it. Ends with 1 if one is not found.
import { parseArgs } from 'node:util'
import { type CheckoutCopy, copyCheckout } from './checkout-copy.ts'
import type { Fault } from './fault.ts'
import { faults } from './faults.ts'
import { runTests, type TestResult } from './run-tests.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { whole: { type: 'boolean', default: false } },
})

/** For the tests of one fault; a run that exceeds it has found the fault. */
const faultDeadlineMs = 3 * 60_000
/** For the tests of all faults, and for the whole suite. */
const suiteDeadlineMs = 40 * 60_000

process.exitCode = await run(selectFaults(positionals))

async function run(selected: readonly Fault[]): Promise<number> {
  if (selected.length === 0) {
    console.error('No fault has this number or name.')
    return 2
  }
  await using copy = await copyCheckout()
  if (!(await areApplicable(selected, copy)) || !(await passWithoutFault(selected, copy))) return 1
  const missed: Fault[] = []
  for (const fault of selected) {
    const found = await findFault(fault, copy)
    console.log(`${numberOf(fault)}. ${fault.name}: ${found ?? 'NOT FOUND'}`)
    if (found === undefined) missed.push(fault)
  }
  console.log(`${selected.length - missed.length} of ${selected.length} faults found`)
  return missed.length > 0 ? 1 : 0
}

/** The faults with these numbers, or with these words in their names; all of them without any. */
function selectFaults(selectors: readonly string[]): readonly Fault[] {
  if (selectors.length === 0) return faults
  const isSelected = (fault: Fault, selector: string) =>
    /^\d+$/.test(selector)
      ? numberOf(fault) === Number(selector)
      : fault.name.toLowerCase().includes(selector.toLowerCase())
  return faults.filter((fault) => selectors.some((selector) => isSelected(fault, selector)))
}

function numberOf(fault: Fault): number {
  return faults.indexOf(fault) + 1
}

async function areApplicable(selected: readonly Fault[], copy: CheckoutCopy): Promise<boolean> {
  let applicable = true
  for (const fault of selected)
    for (const problem of await copy.problemsOf(fault)) {
      console.error(`${numberOf(fault)}. ${fault.name}: ${problem}`)
      applicable = false
    }
  return applicable
}

/** A test that fails without a fault would seem to find every fault. */
async function passWithoutFault(selected: readonly Fault[], { folder }: CheckoutCopy): Promise<boolean> {
  for (const database of [undefined, 'postgres'] as const) {
    const tests = selected.filter((fault) => fault.database === database).flatMap((fault) => fault.tests)
    if (tests.length === 0) continue
    const result = await runTests({
      folder,
      tests: [...new Set(tests)],
      database,
      deadlineMs: suiteDeadlineMs,
    })
    console.log(`without a fault, on ${database ?? 'sqlite'}: ${result.outcome} in ${rounded(result)} s`)
    if (result.outcome === 'passed') continue
    console.error(result.output)
    return false
  }
  return true
}

/** Returns what has found the fault; undefined if nothing has. */
async function findFault(fault: Fault, copy: CheckoutCopy): Promise<string | undefined> {
  await using _ = await copy.apply(fault)
  const { folder } = copy
  const result = await runTests({ folder, ...fault, deadlineMs: faultDeadlineMs })
  if (result.outcome !== 'passed') return described(result)
  if (!values.whole) return undefined
  const whole = await runTests({ folder, ...fault, tests: [], deadlineMs: suiteDeadlineMs })
  return whole.outcome === 'passed' ? undefined : `${described(whole)}, and only in the whole suite`
}

function described(result: TestResult): string {
  if (result.outcome === 'hung') return `found by its deadline of ${rounded(result)} s`
  const { failedTest: name } = result
  return `found by ${name === undefined ? 'an error outside of the tests' : `“${name}”`} in ${rounded(result)} s`
}

function rounded({ seconds }: TestResult): string {
  return seconds.toFixed(1)
}
