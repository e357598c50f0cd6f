import { randomUUID } from 'node:crypto'
import { serviceUnavailable } from '../../lib/errors/errors.ts'
import { timeSortedId } from '../../lib/id.ts'
import { withTimeout } from '../../lib/time.ts'
import type { Nanos } from '../../lib/usd.ts'
import { processRemoved } from '../common/process-identity.ts'
import { createRecovery } from '../common/recovery.ts'
import { createSettle, createSettlementRetries, type SettleNow } from '../common/settlement-retries.ts'
import { WaitingContent, withBoundedContent } from '../common/waiting-content.ts'
import { retryWhileUnavailable } from '../ports/health.ts'
import {
  type Ledger,
  noWrites,
  type Reservation,
  type ReservationRejection,
  type Settlement,
  type SettleOptions,
  type Write,
} from '../ports/ledger.ts'
import { type CurrentAlerts, noAlerts } from '../ports/webhooks.ts'
import { isMade, releaseReservations, selectAbandoned, toRejection, toReserveJob } from './reservations.ts'
import { toSettlement, toUsageRow } from './settlement.ts'
import { noAnswer, type Query } from './connection/connections.ts'
import type { Database } from './connection/database.ts'
import { createScriptRunner } from './run-script.ts'
import { contentRows, toWriteRows } from './writes.ts'

/** The ledger in the PostgreSQL database; `alerts` are the events for webhooks. */
export function createLedger(database: Database, alerts: CurrentAlerts = () => noAlerts): Ledger {
  const waiting = new WaitingContent()
  const settleNow = withBoundedContent(createSettleNow(database.writer, alerts), waiting)
  const record = withBoundedContent(createSettleNow(database.usageWriter, alerts), waiting)
  const closing = new AbortController()
  const retries = createSettlementRetries((request, outcome) => settleNow(request, outcome, {}))
  const settle = createSettle(settleNow, retries, closing.signal)

  const recordUsage: Ledger['recordUsage'] = async (request, outcome) => {
    if (database.health.unavailableError()) retries.add(request, outcome)
    else record(request, outcome, { reserved: false }).catch(() => retries.add(request, outcome))
  }

  return {
    isShared: true,
    reserve: (reservation, writes) => reserve(database, reservation, writes, closing.signal),
    write: (writes) => executeWrites(database, writes, alerts().responses),
    settle: (request, outcome, options) => inTime(settle(request, outcome, options), options, database),
    recordUsage,
    settleEventually: (request, outcome, writes) =>
      retryWhileUnavailable(() => settleNow(request, outcome, { writes }), closing.signal),
    recover: createRecovery(createScriptRunner(database).read, selectAbandoned, (interrupted) =>
      Promise.all(interrupted.map(({ request, outcome }) => settleNow(request, outcome, {}))),
    ),
    close() {
      closing.abort(serviceUnavailable('The gateway is shutting down.'))
      retries.close()
    },
  }
}

/** A settlement that takes longer goes on, and is retried if it fails; one that stores an answer has a deadline of its own. */
function inTime(
  settled: Promise<Settlement>,
  options: SettleOptions = {},
  { callerTimeoutMs }: Database,
): Promise<Settlement> {
  const { writes = noWrites } = options
  return writes.length > 0 ? settled : withTimeout(settled, callerTimeoutMs, noAnswer)
}

async function reserve(
  { writer, process, query, transact, callerTimeoutMs }: Database,
  reservation: Reservation,
  writes: readonly Write[] = noWrites,
  closing: AbortSignal,
): Promise<ReservationRejection | undefined> {
  const { id, organization } = reservation.request
  const job = toReserveJob(reservation, toWriteRows(id, writes), process.id())
  const written = writer.write(job)
  const row = await withTimeout(written, callerTimeoutMs, () => {
    const release = () => transact((query) => releaseReservations(query, [job]))
    releaseLate(written, () => retryWhileUnavailable(release, closing)).catch(() => {})
    return noAnswer()
  })
  if (row?.removed) throw processRemoved()
  if (isMade(row)) return undefined
  return toRejection(job, row) ?? { budget: null, available: await availableOf(query, organization) }
}

/** Reads what is left of the balance; 0 if the organization does not exist. */
async function availableOf(query: Query, organization: string): Promise<Nanos> {
  const [row] = await query<{ readonly available: string }>(
    'SELECT (balance - reserved)::text available FROM organizations WHERE id = $1 AND deletion IS NULL',
    [organization],
  )
  return BigInt(row?.available ?? 0)
}

/** Releases a reservation that is committed after its caller was rejected. A closed ledger leaves it to `recover`. */
async function releaseLate(
  written: ReturnType<Database['writer']['write']>,
  release: () => Promise<void>,
): Promise<void> {
  const row = await written
  if (isMade(row)) await release()
}

function createSettleNow(writer: Database['writer'], alerts: CurrentAlerts): SettleNow {
  return async (request, outcome, options) => {
    const { id, organization } = request
    const { writes = noWrites, reserved = true, budgeted = true } = options
    const costs = { reserved, budgeted, costUnknown: outcome.costUnknown ?? false }
    const job = { kind: 'settle', id, organization, ...costs, usage: toUsageRow(request, outcome) } as const
    const rules = alerts()
    const rows = {
      ...toWriteRows(id, writes, rules.responses),
      contents: contentRows(request, outcome),
    }
    const entry = timeSortedId('led_')
    return toSettlement(await writer.write({ ...job, entry, rows, alerts: rules }))
  }
}

async function executeWrites(
  { writer }: Database,
  writes: readonly Write[],
  runEvents: boolean,
): Promise<void> {
  const id = randomUUID()
  await writer.write({ kind: 'write', id, rows: toWriteRows(id, writes, runEvents) })
}
