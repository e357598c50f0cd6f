import { sql } from 'drizzle-orm'
import type { Outcome } from '../../domain/accounting/request-metadata.ts'
import { serviceUnavailable } from '../../lib/errors/errors.ts'
import { createRecovery, type InterruptedRequest, openReservations } from '../common/recovery.ts'
import {
  createSettle,
  createSettlementRetries,
  type SettlementRetries,
} from '../common/settlement-retries.ts'
import { WaitingContent, withBoundedContent } from '../common/waiting-content.ts'
import { retryWhileUnavailable } from '../ports/health.ts'
import { type Ledger, noWrites, type Settlement, type SettleOptions } from '../ports/ledger.ts'
import { type CurrentAlerts, noAlerts } from '../ports/webhooks.ts'
import { reservations } from '../schema/organizations.ts'
import { prepareAlerts } from './alerts.ts'
import type { Amounts } from './amounts.ts'
import type { Database } from './connection/database.ts'
import { prepareSettle, type Settle } from './ledger-statements.ts'
import { prepareReservations, type Reservations } from './reservation-statements.ts'
import { createScriptRunner } from './script-runner.ts'
import { type FinishedRequest, UsageBatcher } from './usage-batcher.ts'
import type { Writer } from './writer.ts'
import { type ExecuteWrites, prepareWrites } from './writes.ts'

/** The ledger in the SQLite database, whose reports call `flush` before they read. */
type SqliteLedger = Ledger & Pick<UsageBatcher, 'flush'>

/** Creates the ledger. `alerts` are the events for webhooks; `now` returns milliseconds since 1970. */
export function createLedger(
  database: Database,
  writer: Writer,
  alerts: CurrentAlerts = () => noAlerts,
  now: () => number = Date.now,
  waiting = new WaitingContent(),
): SqliteLedger {
  const reservedMoney = prepareReservations(database)
  const settleNow = prepareSettle(database, reservedMoney, prepareAlerts(database, alerts, now), now)
  const execute = prepareWrites(database, alerts, now)
  const closing = new AbortController()
  const retries = createSettlementRetries((request, outcome) =>
    writer.writeAmounts((amounts) => settleNow(amounts, request, outcome, true)),
  )
  const recording = createRecording(settleNow, writer, retries, waiting)

  const settleWith = withBoundedContent((request, outcome, options) => {
    const { writes = noWrites, reserved = true } = options
    const settleAll = (amounts: Amounts) =>
      settleNow(amounts, request, outcome, reserved, () => execute(writes))
    return writer.writeAmounts(settleAll, isDurable(outcome, options))
  }, waiting)

  const settle = createSettle(settleWith, retries, closing.signal)

  const settleEventually: Ledger['settleEventually'] = (request, outcome, writes) =>
    retryWhileUnavailable(() => settleWith(request, outcome, { writes }), closing.signal)

  return {
    isShared: false,
    reserve: createReserve(reservedMoney, execute, writer),
    write: (writes) => writer.write(() => execute(writes)),
    settle,
    ...recording,
    settleEventually,
    recover: createRecover(database, writer, settleNow),
    close() {
      closing.abort(serviceUnavailable('The gateway is shutting down.'))
      void recording.flush()
      retries.close()
    },
  }
}

function createReserve(
  reservations: Reservations,
  execute: ExecuteWrites,
  writer: Writer,
): Ledger['reserve'] {
  // A reservation may be lost in a power cut: nothing was charged.
  return (reservation, writes = noWrites) => {
    const durable = () => writes.length > 0
    return writer.writeAmounts(
      (amounts) => reservations.insert(amounts, reservation, () => execute(writes)),
      durable,
    )
  }
}

type Recording = Pick<SqliteLedger, 'recordUsage' | 'flush'>

function createRecording(
  settleNow: Settle,
  writer: Writer,
  retries: SettlementRetries,
  waiting: WaitingContent,
): Recording {
  const batcher = new UsageBatcher(
    // What was written without a charge may be lost in a power cut.
    (rows) =>
      writer
        .writeAmounts(
          (amounts) => recordAll(amounts, rows),
          () => false,
        )
        .finally(() => rows.forEach(({ outcome }) => waiting.release(outcome))),
    ({ request, outcome }) => retries.add(request, outcome),
  )

  function recordAll(amounts: Amounts, rows: readonly FinishedRequest[]): void {
    for (const { request, outcome } of rows) settleNow(amounts, request, outcome, false)
  }

  return {
    recordUsage(request, outcome) {
      if (writer.unavailableError()) retries.add(request, outcome)
      else batcher.add({ request, outcome: waiting.admit(outcome) })
      return accepted
    },
    flush: () => batcher.flush(),
  }
}

/** The same for all requests: it has no value. */
const accepted = Promise.resolve()

/**
 * A usage row without a charge and without writes may be lost in a power cut: no caller was promised it. What counts
 * against a budget may not, even if the balance does not pay.
 */
function isDurable({ cost = 0n }: Outcome, options: SettleOptions): (settlement: Settlement) => boolean {
  const { writes = noWrites, reserved = true, budgeted = true } = options
  const isCounted = reserved && budgeted && cost > 0n
  return ({ recorded, charged }) => writes.length > 0 || charged > 0n || (recorded && isCounted)
}

function createRecover(database: Database, writer: Writer, settleNow: Settle): Ledger['recover'] {
  const { read } = createScriptRunner(database, writer)

  const settle = (interrupted: readonly InterruptedRequest[]) =>
    Promise.all(
      interrupted.map(({ request, outcome }) =>
        writer.writeAmounts((amounts) => settleNow(amounts, request, outcome, true)),
      ),
    )
  const ofRuns = createRecovery(read, selectLeftByRuns, settle)
  let recover = createRecovery(read, selectOpen, settle)
  return async () => {
    const settled = await recover()
    // From now on, open reservations are those of this process, but for what its runs have left.
    recover = ofRuns
    return settled
  }
}

const selectOpen = openReservations(sql`true`)

/** See `RunStore.leaveReservation`. */
const selectLeftByRuns = openReservations(sql`${reservations.process_id} = ''`)
