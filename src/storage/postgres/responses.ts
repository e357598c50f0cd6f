import { randomUUID } from 'node:crypto'
import { isNull, sql } from 'drizzle-orm'
import type { ResponseKey } from '../ports/responses.ts'
import { response_erasures } from '../schema/postgres.ts'
import { responseBytes, responses } from '../schema/stored.ts'
import { type ErasureDelay, ofKey } from '../scripts/response-removal.ts'
import { createResponses as createResponseStore, type ErasableResponses } from '../scripts/responses.ts'
import { returning, update } from '../sql.ts'
import { type Parameters, statement } from '../statement.ts'
import { serverTime } from './connection/connections.ts'
import type { Database } from './connection/database.ts'
import { createScriptRunner } from './run-script.ts'
import { toWriteRows } from './writes.ts'

/** The time between the removal of a response and its erasure: each process postpones the erasure of what it has pinned. */
const defaultDelayMs = 10_000

/** The responses in the PostgreSQL database. `delayMs` is 0 if no other process uses it. */
export function createResponses(database: Database, delayMs = defaultDelayMs): ErasableResponses {
  const { writer } = database
  return createResponseStore(createScriptRunner(database), {
    // A job without writes is committed after those that wait.
    written: () => writer.write({ kind: 'write', id: randomUUID(), rows: toWriteRows('', []) }),
    delay: delayMs === 0 ? undefined : createErasureDelay(delayMs),
  })
}

function createErasureDelay(delayMs: number): ErasureDelay {
  return {
    delayMs,
    *hide({ organization, id }) {
      const [hidden] = yield* hide({ organization, id, delayMs })
      return hidden?.bytes ?? 0
    },
    *postpone(ids) {
      yield* postpone({ ids, delayMs })
    },
  }
}

const { response_id, not_before } = response_erasures

const hide = statement((values: Parameters<ResponseKey & { delayMs: number }>) => {
  const hidden = returning(
    { id: responses.id, bytes: responseBytes },
    sql`${ofKey(values)} and ${isNull(responses.deletion)}`,
  )
  return sql<{ readonly bytes: number }>`
    with hidden as (${update(responses, { deletion: 'due' }, hidden)}),
    delayed as (
      insert into ${response_erasures} (${sql.identifier(response_id.name)}, ${sql.identifier(not_before.name)})
      select id, ${sql.raw(serverTime)} + ${values.delayMs} from hidden
      on conflict (${sql.identifier(response_id.name)}) do update set not_before = excluded.not_before)
    select bytes from hidden`
})

const postpone = statement(
  (values: Parameters<{ ids: readonly string[]; delayMs: number }>, { isOneOf }) =>
    sql<never>`update ${response_erasures} set not_before = ${sql.raw(serverTime)} + ${values.delayMs}
      where ${isOneOf(response_id, values.ids)}`,
)
