import type { Database } from '../connection/database.ts'
import { deleteTotals } from '../usage/rollup.ts'
import {
  deleteIndexedRows,
  deleteScannedRows,
  indexedTables,
  lowestKey,
  scannedTables,
} from './organization-rows.ts'

/** Deletes the data of organizations in small steps, so that other writes wait only for a moment. */
export type OrganizationDeletions = {
  /**
   * Deletes the rows of an organization whose deletion has begun, and yields the number of deleted rows after each step.
   * At the end its name may be used again. May be interrupted after any step, and continued by any process.
   */
  steps(organization: string): AsyncGenerator<number, void>
  /** Does one step for the organizations whose deletion has begun; resolves with 0 if there are none. */
  continue(): Promise<number>
}

/** See `OrganizationDeletions`. */
export function createOrganizationDeletions(
  database: Pick<Database, 'query' | 'transact'>,
): OrganizationDeletions {
  const { query } = database
  let current: AsyncGenerator<number, void> | undefined

  async function* steps(organization: string): AsyncGenerator<number, void> {
    for (const table of indexedTables) {
      let deleted: number
      while ((deleted = await deleteIndexedRows(query, table, organization)) > 0) yield deleted
    }
    let totals: number
    while ((totals = await deleteTotals(database, organization)) > 0) yield totals
    for (const table of scannedTables)
      for (let after = lowestKey; ;) {
        const step = await deleteScannedRows(query, table, organization, after)
        yield step.deleted
        if (step.next === undefined) break
        after = step.next
      }
    await query(endDeletion, [organization])
  }

  return {
    steps,
    async continue() {
      const [begun] = await query<{ readonly id: string }>(
        "SELECT id FROM organizations WHERE deletion = 'begun' ORDER BY id LIMIT 1",
      )
      if (begun === undefined) return 0
      current ??= steps(begun.id)
      const { done } = await current.next().catch((error) => {
        current = undefined
        throw error
      })
      if (done) current = undefined
      return 1
    },
  }
}

/** A name that no organization can have, so that another one may use the old name. */
const endDeletion = `WITH limits AS (DELETE FROM rate_limit_buckets WHERE organization_id = $1)
  UPDATE organizations SET deletion = 'done', name = 'deleted:' || id, balance = 0, reserved = 0
  WHERE id = $1 AND deletion = 'begun'`
