import { expect, test } from 'bun:test'
import { usageGroupings } from '../../../src/storage/ports/usage.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { createUsageSource } from '../../../src/storage/sqlite/usage-source.ts'
import { operatorReport } from '../../../src/storage/usage/operator-report.ts'
import { operatorReports } from '../../../src/storage/usage/report-slots.ts'
import { createUsageReports, type UsageSource } from '../../../src/storage/usage/reports.ts'
import { sqliteUsageStorage } from './support/usage-fixture.ts'
import { testActor } from '../../support/actor.ts'

test.each(usageGroupings.filter((by) => by !== 'tag'))(
  'the total of a report by %s is the sum of its groups, although requests are recorded in the meantime',
  async (by) => {
    const { database, writer, organizations, add } = await sqliteUsageStorage()
    const { keys, projects } = createManagedStores(createScriptRunner(database, writer), testActor)
    await add({ model: 'a/one' })
    await add({ model: 'a/two' }, { status: 502, error: 'upstream_timeout', latency: 80 })
    const source = recordingBetween(createUsageSource(database), add)
    const usage = createUsageReports(source, operatorReports)
    const report = await operatorReport({ by: [by], since: 0 }, { usage, organizations, keys, projects })
    const sum = report.groups.reduce((requests, group) => requests + group.requests, 0)
    expect(sum).toBe(2)
    expect(report.total).toMatchObject({ requests: 2, failed: 1, cost: 100n, promptTokens: 200 })
    const [afterwards] = await createUsageReports(source, operatorReports).read({ from: 0, groupBy: [] })
    expect(afterwards?.totals.requests).toBe(3)
  },
)

/** The source of a server that records a request after each reading, and before the next one. */
function recordingBetween(source: UsageSource, add: () => Promise<unknown>): UsageSource {
  let previous: Promise<unknown> = Promise.resolve()
  return {
    ...source,
    readSlices(...reading) {
      const current = previous.then(() => source.readSlices(...reading))
      previous = current.then(add)
      return current
    },
  }
}
