import { type RunStep, UsageGroups } from '../../common/usage-groups.ts'
import { labelOf, type TotalsWidth, totalsWidthOf, type UsageLabel } from '../../common/usage-totals.ts'
import {
  bucketWidths,
  type UsageBucketGroup,
  type UsageBucketQuery,
  type UsageBuckets,
} from '../../ports/usage-buckets.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organizations/organization-row.ts'
import { toOutage } from '../sqlite-errors.ts'
import { addTimes } from './histogram.ts'
import { prepareUntil } from './rollup.ts'
import { prepareSlices } from './slice.ts'
import { prepareReadTotals } from './read-totals.ts'
import { ReportTurns } from './turns.ts'

/** The reports by period from the SQLite database. */
export function createUsageBuckets(database: Database): UsageBuckets {
  const turns = new ReportTurns()
  const readers = prepareReaders(database)
  return {
    read: (query) =>
      turns
        .run((step) => readReport(query, readers, step))
        .catch((error) => {
          throw toOutage(error)
        }),
  }
}

type Readers = ReturnType<typeof prepareReaders>

/**
 * Reads the totals first, and the time that they cover together with the last of them; then the rows after that time. So
 * each request counts once, although rows are added to the totals meanwhile.
 */
async function readReport(
  query: UsageBucketQuery,
  readers: Readers,
  step: RunStep,
): Promise<readonly UsageBucketGroup[]> {
  const groups = new UsageGroups({ ...query, addTimes })
  const label = labelOf(query)
  const width = totalsWidthOf(query)
  const from = width === undefined ? query.from : await addTotals(query, width, groups, readers, step)
  await addRows({ ...query, from }, label, groups, readers, step)
  return await groups.sorted(step)
}

/** The totals that one step reads. */
const stepTotals = 1000

/** Adds the totals, and resolves with the time from which rows have to be read. */
async function addTotals(
  { organizations, width: name, from, to }: UsageBucketQuery,
  width: TotalsWidth,
  groups: UsageGroups,
  { until, owners, totals }: Readers,
  step: RunStep,
): Promise<number> {
  const widthMs = bucketWidths[name]
  const lastStart = Math.floor((await step(until)) / widthMs) * widthMs
  const ids = organizations ?? (await step(owners))
  for (const organization of ids)
    for (let after = totals.start(organization, width, from); ;) {
      const { slices, next } = await step(() => totals.read(after, Math.min(lastStart, to), stepTotals))
      groups.add(slices)
      if (next === undefined) break
      after = next
    }
  return step(() => {
    groups.add(totals.readFrom(ids, width, Math.max(from, lastStart), to))
    return Math.max(from, until())
  })
}

/** The rows that one step reads. */
const stepRows = 4000

async function addRows(
  { organizations, width, from, to, groupBy, models, keys }: UsageBucketQuery,
  label: UsageLabel | undefined,
  groups: UsageGroups,
  { rowEnd, slices }: Readers,
  step: RunStep,
): Promise<void> {
  const owner = organizations ? 'usage.organization_id IN (SELECT value FROM json_each(?4))' : ownerExists
  const condition = `created_at >= ?2 AND created_at < ?3 AND ${owner}`
  const widthMs = bucketWidths[width]
  const by = new Set<string>([...groupBy, ...(models ? ['model'] : []), ...(keys ? ['key'] : [])])
  for (let start = from; start < to;) {
    start = await step(() => {
      const end = rowEnd(start, to, stepRows)
      const values = [start, end, ...(organizations ? [JSON.stringify(organizations)] : [])]
      groups.add(slices({ condition, values, widthMs, by, label }))
      return end
    })
  }
}

const ownerExists = `EXISTS (SELECT 1 FROM organizations WHERE id = organization_id AND ${organizationExistsSql})`

function prepareReaders(database: Database) {
  const { sqlite } = database
  const owners = sqlite.prepare<{ readonly id: string }, []>(
    `SELECT id FROM organizations WHERE ${organizationExistsSql} ORDER BY id`,
  )
  const row = sqlite.prepare<{ readonly created_at: number }, [number, number, number]>(
    'SELECT created_at FROM usage WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id LIMIT 1 OFFSET ?',
  )
  return {
    until: prepareUntil(database),
    owners: () => owners.all().map(({ id }) => id),
    totals: prepareReadTotals(database),
    /** The exclusive end of a range that begins at `from` and has about `rows` rows. */
    rowEnd(from: number, to: number, rows: number): number {
      const last = row.get(from, to, rows - 1)
      return last === null ? to : last.created_at + 1
    },
    slices: prepareSlices(database),
  }
}
