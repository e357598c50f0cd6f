import type { Outcome, RequestMetadata } from '../../../../src/domain/accounting/request-metadata.ts'
import type { UsageGrouping } from '../../../../src/storage/ports/usage.ts'
import { fundedStorage, fundedStore, requestOf } from './ledger-fixture.ts'
import type { OpenStore } from './stores.ts'

const day = 86_400_000
const usage = { promptTokens: 100, completionTokens: 20, estimated: false }
const replied: Outcome = { provider: 'openai', upstreamModel: 'm', usage, cost: 50n, status: 200 }

/** A database with two organizations, rows of requests to be added, and reports of them. */
export async function usageStorage(open: OpenStore) {
  const scenario = await withRequests(await fundedStore(open, 0n))
  const { store } = scenario
  const keys = store.keys()
  const report = (by: UsageGrouping, request: object = {}) => store.report({ by: [by], since: 0, ...request })
  const groups = async (by: UsageGrouping, request: object = {}) =>
    (await report(by, request)).groups.map(({ values, requests, cost }) => [...values, requests, cost])
  return { ...scenario, keys, report, groups }
}

/** The same in a SQLite database that tests change by themselves. */
export async function sqliteUsageStorage() {
  return await withRequests(await fundedStorage(0n))
}

async function withRequests<Scenario extends Awaited<ReturnType<typeof fundedStorage | typeof fundedStore>>>(
  scenario: Scenario,
) {
  const { ledger, organizations, acme } = scenario
  const other = await organizations.create('other')
  const add = (facts: Partial<RequestMetadata> = {}, outcome: Partial<Outcome> = {}) =>
    ledger.settle({ ...requestOf(acme.id), createdAt: 5 * day, ...facts }, { ...replied, ...outcome })
  return { ...scenario, other, add }
}
