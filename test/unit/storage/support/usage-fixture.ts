import type { Outcome } from '../../../../src/domain/accounting/outcome.ts'
import type { RequestMetadata } from '../../../../src/domain/accounting/request-metadata.ts'
import type { UsageGrouping } from '../../../../src/storage/ports/usage-report.ts'
import { usageReport } from '../../../../src/storage/sqlite/billing/usage-report.ts'
import { createKeys } from '../../../../src/storage/sqlite/keys/keys.ts'
import { fundedStorage, requestOf } from './ledger-fixture.ts'

const day = 86_400_000
const usage = { promptTokens: 100, completionTokens: 20, estimated: false }
const replied: Outcome = { provider: 'openai', upstreamModel: 'm', usage, cost: 50n, status: 200 }

/** A database with two organizations, rows of requests to be added, and reports of them. */
export async function usageStorage() {
  const scenario = await fundedStorage(0n)
  const { database, writer, ledger, organizations, acme } = scenario
  const other = await organizations.create('other')
  const keys = createKeys(database, writer)
  const add = (facts: Partial<RequestMetadata> = {}, outcome: Partial<Outcome> = {}) =>
    ledger.settle({ ...requestOf(acme.id), createdAt: 5 * day, ...facts }, { ...replied, ...outcome })
  const report = (by: UsageGrouping, request: object = {}) =>
    usageReport(database, { by, since: 0, ...request })
  const groups = async (by: UsageGrouping, request: object = {}) =>
    (await report(by, request)).groups.map(({ value, requests, cost }) => [value, requests, cost])
  return { ...scenario, other, keys, add, report, groups }
}
