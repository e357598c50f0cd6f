import type { Database } from '../connection/database.ts'
import {
  highestKey,
  lowestKey,
  prepareIndexedRows,
  prepareScannedRows,
  type ScannedRows,
} from './organization-rows.ts'
import { read } from '../sqlite-errors.ts'
import type { Writer } from '../writer/writer.ts'

/** Deletes the data of organizations in small steps, so that other writes wait only for a moment. */
export type OrganizationDeletions = {
  /** Part of a transaction: hides the organization; from then on nothing is stored for it. */
  begin(organization: string): void
  /**
   * Deletes its rows, and yields the number of deleted rows after each step. At the end its name may be used again. May be
   * interrupted after any step, and continued by any process.
   */
  steps(organization: string): AsyncGenerator<number, void>
  /** Does one step for the organizations whose deletion has begun; resolves with 0 if there are none. */
  continue(): Promise<number>
}

/** See `OrganizationDeletions`. */
export function createOrganizationDeletions(database: Database, writer: Writer): OrganizationDeletions {
  const statements = prepareStatements(database)
  const indexed = prepareIndexedRows(database)
  const scanned = prepareScannedRows(database)
  let current: AsyncGenerator<number, void> | undefined

  async function* steps(organization: string): AsyncGenerator<number, void> {
    for (const deleteSome of indexed) {
      let deleted: number
      while ((deleted = await writer.write(() => deleteSome(organization))) > 0) yield deleted
    }
    for (const rows of scanned) yield* scan(rows, organization, writer)
    await writer.write(() => void statements.end.run(organization))
  }

  return {
    begin: (organization) => void statements.begin.run(organization),
    steps,
    async continue() {
      const begun = await read(() => statements.begun.get())
      if (begun === null) return 0
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

/** Reads the table range by range, and takes the write lock only for ranges with rows to delete. */
async function* scan(rows: ScannedRows, organization: string, writer: Writer): AsyncGenerator<number, void> {
  for (let after = lowestKey; ;) {
    const end = await read(() => rows.endOf(after))
    const last = await read(() => rows.find(organization, after, end ?? highestKey))
    if (last === undefined && end === undefined) return
    const [from, to] = [after, last]
    yield to === undefined ? 0 : await writer.write(() => rows.remove(organization, from, to))
    after = last ?? end ?? highestKey
  }
}

function prepareStatements({ sqlite }: Database) {
  return {
    begin: sqlite.prepare<unknown, [string]>(
      "UPDATE organizations SET deletion = 'begun' WHERE id = ? AND deletion IS NULL",
    ),
    begun: sqlite.prepare<{ readonly id: string }, []>(
      "SELECT id FROM organizations WHERE deletion = 'begun' ORDER BY id LIMIT 1",
    ),
    // A name that no organization can have, so that another one may use the old name.
    end: sqlite.prepare<unknown, [string]>(
      "UPDATE organizations SET deletion = 'done', name = 'deleted:' || id, balance = 0, reserved = 0 WHERE id = ?",
    ),
  }
}
