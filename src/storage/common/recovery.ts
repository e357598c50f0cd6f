import { eq, type SQL, sql } from 'drizzle-orm'
import {
  type Outcome,
  readRequestMetadata,
  type RequestMetadata,
} from '../../domain/accounting/request-metadata.ts'
import { timeOf } from '../../lib/id.ts'
import type { Ledger } from '../ports/ledger.ts'
import { reservations } from '../schema/organizations.ts'
import { runs } from '../schema/stored.ts'
import { type RowOf, select } from '../sql.ts'
import { type Parameters, type ScriptRunner, statement } from '../statement.ts'

/** A request whose process died, and the outcome that it is settled with. */
export type InterruptedRequest = { readonly request: RequestMetadata; readonly outcome: Outcome }

const openReservationFields = {
  id: reservations.request_id,
  organization: reservations.organization_id,
  request: reservations.request,
  promptCost: reservations.prompt_cost,
  promptTokens: reservations.prompt_tokens,
}

type OpenReservation = RowOf<typeof openReservationFields>

/**
 * Defines a statement that reads reservations which are left open, as this condition says, by their request ids. Those of
 * unfinished runs are settled with their runs.
 */
export function openReservations(isLeft: SQL) {
  return statement((values: Parameters<{ after: string; limit: number }>) =>
    select(
      openReservationFields,
      sql`from ${reservations} where ${reservations.request_id} > ${values.after} and ${isLeft}
        and not exists (select 1 from ${runs} where ${eq(runs.request_id, reservations.request_id)})
        order by ${reservations.request_id} limit ${values.limit}`,
    ),
  )
}

/** How many reservations are read and settled at once. */
export const maxRecovered = 500

/** Creates `Ledger.recover`. */
export function createRecovery(
  read: ScriptRunner['read'],
  selectOpen: ReturnType<typeof openReservations>,
  settleAll: (interrupted: readonly InterruptedRequest[]) => Promise<unknown>,
): Ledger['recover'] {
  return async () => {
    let settled = 0
    for (let after = ''; ;) {
      const found = await read(() => selectOpen({ after, limit: maxRecovered }))
      const last = found.at(-1)
      if (last === undefined) return settled
      await settleAll(found.map((row) => ({ request: metadataOf(row), outcome: interruption(row) })))
      settled += found.length
      after = last.id
    }
  }
}

/** A request whose stored metadata is damaged is settled with the least that is known, so that its money is released. */
function metadataOf({ id, organization, request }: OpenReservation): RequestMetadata {
  const createdAt = timeOf(id)
  return (
    readRequestMetadata(request, organization, id) ?? {
      id,
      organization,
      key: '',
      createdAt: Number.isFinite(createdAt) ? createdAt : 0,
      api: 'chat',
      stream: false,
    }
  )
}

/** Only the prompt of such a request is known, and that it was sent. */
function interruption({ promptTokens, promptCost }: OpenReservation): Outcome {
  return {
    usage: { promptTokens, completionTokens: 0, estimated: true },
    cost: BigInt(promptCost),
    status: 0,
    error: 'interrupted',
    costUnknown: true,
  }
}
