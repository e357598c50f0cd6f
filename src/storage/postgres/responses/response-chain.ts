import { badRequest } from '../../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { nextTurn } from '../../../lib/time.ts'
import type { ChainLink } from '../../ports/responses.ts'
import { parseStored, parseStoredList } from '../../ports/stored-json.ts'
import type { Query } from '../connection/connections.ts'

/** The limits of a chain that can be read. */
export const maxChainLinks = 10_000
export const maxChainBytes = 64 * 1024 * 1024

const finished = "('completed', 'failed', 'incomplete')"
const unfinished = "('queued', 'in_progress')"

type ReadChain = (
  organization: string,
  id: string,
  hold?: AcquireMemory,
) => Promise<readonly ChainLink[] | undefined>

/** Returns a response after all its predecessors, oldest first; undefined if one of them is missing. See `Responses.chain`. */
export type Chains = { readonly ofFinished: ReadChain; readonly ofUnfinished: ReadChain }

/** See `Chains`. */
export function createChains(query: Query): Chains {
  /** A response that is erased between two steps is treated as missing. */
  function readChain(statuses: string): ReadChain {
    const sizes = sizesStatement(statuses)
    return async (organization, id, hold) => {
      const found = oldestFirst(await query<SizeRow>(sizes, [id, organization]))
      if (found === undefined) return undefined
      await hold?.(found.bytes)
      return await linksOf(query, organization, found.links)
    }
  }

  return { ofFinished: readChain(finished), ofUnfinished: readChain(unfinished) }
}

type SizeRow = {
  readonly id: string
  readonly previous_id: string | null
  /** 1 for the newest response. */
  readonly depth: number
  readonly size: number
  /** The sum of this response and all newer ones. */
  readonly bytes: number
}

/** `octet_length` does not read the texts. */
function sizesStatement(statuses: string): string {
  const size = '(octet_length(r.head) + octet_length(r.log) + octet_length(r.input))::bigint'
  return `WITH RECURSIVE link (id, previous_id, depth, size, bytes) AS (
      SELECT r.id, r.previous_id, 1, ${size}, ${size} FROM responses r
        WHERE r.id = $1 AND r.organization_id = $2 AND r.deletion IS NULL AND r.status IN ${statuses}
      UNION ALL
      SELECT r.id, r.previous_id, link.depth + 1, ${size}, link.bytes + ${size}
        FROM link JOIN responses r ON r.id = link.previous_id AND r.organization_id = $2
        WHERE link.depth < ${maxChainLinks} AND link.bytes <= ${maxChainBytes}
    )
    SELECT id, previous_id, depth, size, bytes FROM link ORDER BY depth DESC`
}

function oldestFirst(rows: readonly SizeRow[]) {
  const [oldest] = rows
  if (oldest === undefined) return undefined
  if (oldest.bytes > maxChainBytes || (oldest.previous_id !== null && oldest.depth === maxChainLinks))
    throw chainTooLong()
  // The predecessor was erased after it was read for a request, and before the response to that was stored.
  if (oldest.previous_id !== null) return undefined
  return { bytes: oldest.bytes, links: rows }
}

/** The rows and bytes to read and parse in one turn of the event loop. */
const sliceRows = 500
const sliceBytes = 1024 * 1024

type LinkRow = { readonly id: string; readonly head: string; readonly input: string; readonly log: string }

async function linksOf(
  query: Query,
  organization: string,
  found: readonly SizeRow[],
): Promise<readonly ChainLink[] | undefined> {
  const links: ChainLink[] = []
  while (links.length < found.length) {
    const ids = nextSlice(found.slice(links.length, links.length + sliceRows))
    const rows = await query<LinkRow>(
      'SELECT id, head, input, log FROM responses WHERE id = ANY($1) AND organization_id = $2',
      [ids, organization],
    )
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const id of ids) {
      const row = byId.get(id)
      if (row === undefined) return undefined
      links.push(await toLink(row))
    }
    await nextTurn()
  }
  return links
}

/** The first rows, as many as one slice may read: at least one, of any size. */
function nextSlice(rows: readonly SizeRow[]): readonly string[] {
  let bytes = 0
  const next = rows.findIndex(({ size }) => (bytes += size) > sliceBytes)
  return rows.slice(0, next < 0 ? rows.length : Math.max(1, next)).map(({ id }) => id)
}

function chainTooLong(): Error {
  const message =
    "Invalid 'previous_response_id': the conversation is too long. It must have at most " +
    `${maxChainLinks} responses and ${maxChainBytes / 1024 / 1024} MiB.`
  return badRequest(message, 'context_length_exceeded', 'previous_response_id')
}

async function toLink({ id, head, input, log }: LinkRow): Promise<ChainLink> {
  const name = `response ${id}`
  return { id, head: parseStored(name, head), input: await parseStoredList(name, input), log }
}
