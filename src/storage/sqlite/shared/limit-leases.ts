import type { BucketState } from '../../../lib/token-bucket.ts'
import {
  exchangeLimits,
  type LimitChanges,
  type LimitExchanges,
  processRemoved,
  unusedBucket,
} from '../../common/limit-exchange.ts'
import type { LimitGrants, LimitLeases, SlotExchange, SlotGrant } from '../../ports/limit-leases.ts'
import type { Database } from '../connection/database.ts'
import type { Writer } from '../writer/writer.ts'

/** The limits in this database. `now` returns milliseconds; by default on the clock of the machine of all processes. */
export function createLimitLeases(
  database: Pick<Database, 'sqlite'>,
  writer: Writer,
  now: () => number = Date.now,
): LimitLeases {
  const statements = prepareStatements(database)

  function exchangeNow({ process, buckets, slots }: LimitExchanges): LimitGrants {
    if (statements.process.get(process) === null) throw processRemoved()
    const { grants, changes } = exchangeLimits(
      { buckets, slots },
      {
        now: Math.floor(now()),
        bucket: ({ organization, kind }) => statements.bucket.get(organization, kind) ?? unusedBucket,
        slots: (exchange) => slotsOf(process, exchange),
      },
    )
    write(process, changes)
    return grants
  }

  function slotsOf(process: string, { organization, kind }: SlotExchange): SlotGrant {
    return statements.slots.get(process, process, organization, kind) ?? { held: 0, others: 0 }
  }

  function write(process: string, { buckets, slots }: LimitChanges): void {
    for (const { organization, kind, limit, spent, refilledAt } of buckets)
      statements.writeBucket.run(organization, kind, limit, spent, refilledAt)
    for (const { organization, kind, held } of slots) {
      if (held > 0) statements.writeSlots.run(organization, kind, process, held)
      statements.removeSlots.run(organization, kind, held, process)
    }
  }

  // The disk is not waited for.
  const isDurable = () => false
  return {
    exchange: (process, buckets, slots) =>
      writer.write(() => exchangeNow({ process, buckets, slots }), isDurable),
  }
}

function prepareStatements({ sqlite }: Pick<Database, 'sqlite'>) {
  return {
    process: sqlite.prepare<{ readonly id: string }, [string]>('SELECT id FROM processes WHERE id = ?'),
    bucket: sqlite.prepare<BucketState, [string, string]>(
      'SELECT "limit", spent, refilled_at refilledAt FROM rate_limit_buckets WHERE organization_id = ? AND kind = ?',
    ),
    slots: sqlite.prepare<SlotGrant, [string, string, string, string]>(
      `SELECT coalesce(sum(held) FILTER (WHERE process_id = ?), 0) held,
        coalesce(sum(held) FILTER (WHERE process_id <> ?), 0) others
      FROM slot_leases WHERE organization_id = ? AND kind = ? AND process_id IN (SELECT id FROM processes)`,
    ),
    writeBucket: sqlite.prepare<unknown, [string, string, number, number, number]>(
      `INSERT INTO rate_limit_buckets (organization_id, kind, "limit", spent, refilled_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET "limit" = excluded."limit", spent = excluded.spent, refilled_at = excluded.refilled_at`,
    ),
    writeSlots: sqlite.prepare<unknown, [string, string, string, number]>(
      `INSERT INTO slot_leases (organization_id, kind, process_id, held) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET held = excluded.held`,
    ),
    // Slots that a process without a row had left are deleted as well.
    removeSlots: sqlite.prepare<unknown, [string, string, number, string]>(
      `DELETE FROM slot_leases WHERE organization_id = ? AND kind = ?
      AND (? = 0 AND process_id = ? OR process_id NOT IN (SELECT id FROM processes))`,
    ),
  }
}
