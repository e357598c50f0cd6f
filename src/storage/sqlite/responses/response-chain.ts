import { badRequest } from '../../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { nextTurn } from '../../../lib/time.ts'
import type { ChainLink } from '../../ports/responses.ts'
import { parseStored, parseStoredList } from '../../ports/stored-json.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'

/** The limits of a chain that can be read. */
export const maxChainLinks = 10_000
export const maxChainBytes = 64 * 1024 * 1024

/** Returns a response after all its predecessors, oldest first; undefined if one of them is missing. See `Responses.chain`. */
export type Chains = {
  ofFinished(
    organization: string,
    id: string,
    hold?: AcquireMemory,
  ): Promise<readonly ChainLink[] | undefined>
  ofUnfinished(
    organization: string,
    id: string,
    hold?: AcquireMemory,
  ): Promise<readonly ChainLink[] | undefined>
}

/** See `Chains`. */
export function prepareChains(database: Database): Chains {
  const links = prepareLinks(database)
  const finished = prepareSizes(database, "('completed', 'failed', 'incomplete')")
  const unfinished = prepareSizes(database, "('queued', 'in_progress')")

  /** A response that is erased between two steps is treated as missing. */
  async function chainOf(sizes: typeof finished, organization: string, id: string, hold?: AcquireMemory) {
    const found = oldestFirst(await read(() => sizes.all(id, organization)))
    if (found === undefined) return undefined
    await hold?.(found.bytes)
    return await linksOf(found.ids, (link) => read(() => links.get(link, organization)))
  }

  return {
    ofFinished: (organization, id, hold) => chainOf(finished, organization, id, hold),
    ofUnfinished: (organization, id, hold) => chainOf(unfinished, organization, id, hold),
  }
}

type SizeRow = {
  readonly id: string
  readonly previous_id: string | null
  /** 1 for the newest response. */
  readonly depth: number
  /** The sum of this response and all newer ones. */
  readonly bytes: number
}

type LinkRow = { readonly id: string; readonly head: string; readonly input: string; readonly log: string }

/** Reads only the beginning of each row, which contains the lengths of its texts. */
function prepareSizes({ sqlite }: Database, statuses: string) {
  const size = 'octet_length(r.head) + octet_length(r.log) + octet_length(r.input)'
  return sqlite.prepare<SizeRow, [id: string, organization: string]>(
    `WITH RECURSIVE link (id, previous_id, depth, bytes) AS (
      SELECT r.id, r.previous_id, 1, ${size} FROM responses r
        WHERE r.id = ?1 AND r.organization_id = ?2 AND r.deletion IS NULL AND r.status IN ${statuses}
      UNION ALL
      SELECT r.id, r.previous_id, link.depth + 1, link.bytes + ${size}
        FROM link CROSS JOIN responses r ON r.id = link.previous_id AND r.organization_id = ?2
        WHERE link.depth < ${maxChainLinks} AND link.bytes <= ${maxChainBytes}
    )
    SELECT id, previous_id, depth, bytes FROM link`,
  )
}

function prepareLinks({ sqlite }: Database) {
  return sqlite.prepare<LinkRow, [id: string, organization: string]>(
    'SELECT id, head, input, log FROM responses WHERE id = ? AND organization_id = ?',
  )
}

function oldestFirst(rows: readonly SizeRow[]) {
  const sorted = rows.toSorted((a, b) => b.depth - a.depth)
  const oldest = sorted[0]
  if (oldest === undefined) return undefined
  if (oldest.bytes > maxChainBytes || (oldest.previous_id !== null && oldest.depth === maxChainLinks))
    throw chainTooLong()
  // The predecessor was erased after it was read for a request, and before the response to that was stored.
  if (oldest.previous_id !== null) return undefined
  return { bytes: oldest.bytes, ids: sorted.map(({ id }) => id) }
}

/** The rows and characters to read and parse in one turn of the event loop. */
const sliceRows = 500
const sliceCharacters = 1024 * 1024

async function linksOf(
  ids: readonly string[],
  find: (id: string) => Promise<LinkRow | null>,
): Promise<readonly ChainLink[] | undefined> {
  const links: ChainLink[] = []
  let [rows, characters] = [0, 0]
  for (const id of ids) {
    const row = await find(id)
    if (row === null) return undefined
    links.push(await toLink(row))
    rows += 1
    characters += row.head.length + row.input.length + row.log.length
    if (rows < sliceRows && characters < sliceCharacters) continue
    ;[rows, characters] = [0, 0]
    await nextTurn()
  }
  return links
}

function chainTooLong(): Error {
  const message =
    "Invalid 'previous_response_id': the conversation is too long. It must have at most " +
    `${maxChainLinks} responses and ${maxChainBytes / 1024 / 1024} MiB.`
  return badRequest(message, 'context_length_exceeded', 'previous_response_id')
}

async function toLink({ id, head, input, log }: LinkRow): Promise<ChainLink> {
  // Both were written by `insert`.
  const name = `response ${id}`
  return { id, head: parseStored(name, head), input: await parseStoredList(name, input), log }
}
