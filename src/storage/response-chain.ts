import { badRequest } from '../lib/errors.ts'
import type { Database } from './database.ts'
import type { ChainLink } from './responses.ts'
import { parseStored } from './stored-json.ts'

/** The most responses that a chain can be read with, and the most bytes of them. */
export const mostLinks = 10_000
export const mostChainBytes = 64 * 1024 * 1024

/** Responses behind all that they follow, oldest first; undefined where one of them is missing. */
export type Chains = {
  ofFinished(organization: string, id: string): readonly ChainLink[] | undefined
  ofUnfinished(organization: string, id: string): readonly ChainLink[] | undefined
}

export function prepareChains(database: Database): Chains {
  const finished = prepareStatement(database, "('completed', 'failed', 'incomplete')")
  const unfinished = prepareStatement(database, "('queued', 'in_progress')")
  return {
    ofFinished: (organization, id) => toChain(finished.all(id, organization)),
    ofUnfinished: (organization, id) => toChain(unfinished.all(id, organization)),
  }
}

type LinkRow = {
  readonly id: string
  readonly previous_id: string | null
  readonly head: string
  readonly input: string
  readonly log: string
  /** 1 for the youngest. */
  readonly depth: number
  /** Of all that are not older. */
  readonly bytes: number
}

/** The steps up the chain read no more of a row than its beginning: the length of a text is told there. */
function prepareStatement({ sqlite }: Database, statuses: string) {
  const size = 'octet_length(r.head) + octet_length(r.log) + octet_length(r.input)'
  return sqlite.prepare<LinkRow, [id: string, organization: string]>(
    `WITH RECURSIVE link (row, previous_id, depth, bytes) AS (
      SELECT r.rowid, r.previous_id, 1, ${size} FROM responses r
        WHERE r.id = ?1 AND r.organization_id = ?2 AND r.deletion IS NULL AND r.status IN ${statuses}
      UNION ALL
      SELECT r.rowid, r.previous_id, link.depth + 1, link.bytes + ${size}
        FROM link CROSS JOIN responses r ON r.id = link.previous_id AND r.organization_id = ?2
        WHERE link.depth < ${mostLinks} AND link.bytes <= ${mostChainBytes}
    )
    SELECT r.id, r.previous_id, r.head, r.input, r.log, link.depth, link.bytes
      FROM link CROSS JOIN responses r ON r.rowid = link.row AND r.organization_id = ?2`,
  )
}

function toChain(rows: readonly LinkRow[]): readonly ChainLink[] | undefined {
  const oldestFirst = rows.toSorted((a, b) => b.depth - a.depth)
  const oldest = oldestFirst[0]
  if (oldest === undefined) return undefined
  if (oldest.bytes > mostChainBytes || (oldest.previous_id !== null && oldest.depth === mostLinks))
    throw chainTooLong()
  // It was erased after it was read for the question, and before the answer that follows it was stored.
  if (oldest.previous_id !== null) return undefined
  return oldestFirst.map(toLink)
}

function chainTooLong(): Error {
  const message =
    'The responses that this one would follow are too many, or too long: a chain can be continued up to ' +
    `${mostLinks} responses and ${mostChainBytes / 1024 / 1024} MiB.`
  return badRequest(message, 'context_length_exceeded', 'previous_response_id')
}

function toLink({ id, head, input, log }: LinkRow): ChainLink {
  // Both were written by `insert`.
  const what = `response ${id}`
  return { id, head: parseStored(what, head), input: parseStored(what, input), log }
}
