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
