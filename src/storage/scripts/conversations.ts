import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import { readSlices } from '../common/row-slices.ts'
import type { ChainLink, ResponseKey, Responses } from '../ports/responses.ts'
import { parseStored, parseStoredList } from '../ports/stored-json.ts'
import { isFinished, isUnfinished, responseBytes, responses } from '../schema/stored.ts'
import { select } from '../sql.ts'
import { type Parameters, type ScriptRunner, statement } from '../statement.ts'

/** The limits of a chain that can be read. */
export const maxChainLinks = 10_000
export const maxChainBytes = 64 * 1024 * 1024

/** Reads a response after all its predecessors, oldest first. See `Responses.chain`. */
export function createConversations({ read }: ScriptRunner): Pick<Responses, 'chain' | 'runContext'> {
  /** A response that is erased between two statements is treated as missing. */
  async function readChain(
    sizes: typeof sizesOfFinished,
    key: ResponseKey,
    acquireMemory?: AcquireMemory,
  ): Promise<readonly ChainLink[] | undefined> {
    const found = oldestFirst(await read(() => sizes(key)))
    const [oldest] = found ?? []
    if (found === undefined || oldest === undefined) return undefined
    await acquireMemory?.(oldest.sum)
    const slices = readSlices(found, slice, (ids) => read(() => selectLinks({ ...key, ids })))
    const links: ChainLink[] = []
    for await (const rows of slices)
      for (const row of rows) {
        if (row === undefined) return undefined
        links.push(await toLink(row))
      }
    return links
  }

  return {
    chain: (organization, id, acquireMemory) =>
      readChain(sizesOfFinished, { organization, id }, acquireMemory),
    runContext: (organization, id, acquireMemory) =>
      readChain(sizesOfUnfinished, { organization, id }, acquireMemory),
  }
}

/** The rows and bytes to read and parse in one turn of the event loop. */
const slice = { maxRows: 500, maxBytes: 1024 ** 2 }

const sizesOfFinished = selectSizes(isFinished)
const sizesOfUnfinished = selectSizes(isUnfinished)

type SizeRow = {
  readonly id: string
  readonly previousId: string | null
  /** 1 for the newest response. */
  readonly depth: number
  readonly bytes: number
  /** The bytes of this response and all newer ones. */
  readonly sum: number
}

/** Follows the chain from its newest response; reads the lengths of its texts, not the texts. */
function selectSizes(condition: SQL) {
  const { id, organization_id, previous_id, deletion } = responses
  // The sum may exceed the integers of PostgreSQL.
  const bytes = sql`cast(${responseBytes} as bigint)`
  return statement(
    (values: Parameters<ResponseKey>) => sql<SizeRow>`
      with recursive link (id, previous_id, depth, bytes, sum) as (
        select ${id}, ${previous_id}, 1, ${bytes}, ${bytes} from ${responses}
        where ${eq(id, values.id)} and ${eq(organization_id, values.organization)} and ${isNull(deletion)} and ${condition}
        union all
        select ${id}, ${previous_id}, link.depth + 1, ${bytes}, link.sum + ${bytes}
        from link cross join ${responses}
        where ${id} = link.previous_id and ${eq(organization_id, values.organization)}
          and link.depth < ${maxChainLinks} and link.sum <= ${maxChainBytes}
      )
      select id, previous_id as "previousId", depth, bytes, sum from link`,
  )
}

/** Undefined if a response of the chain is missing; throws if the chain exceeds its limits. */
function oldestFirst(rows: readonly SizeRow[]): readonly SizeRow[] | undefined {
  const sorted = rows.toSorted((one, other) => other.depth - one.depth)
  const [oldest] = sorted
  if (oldest === undefined) return undefined
  if (oldest.sum > maxChainBytes || (oldest.previousId !== null && oldest.depth === maxChainLinks))
    throw chainTooLong()
  // The predecessor was erased after it was read for a request, and before the response to that was stored.
  return oldest.previousId === null ? sorted : undefined
}

function chainTooLong(): Error {
  const message =
    "Invalid 'previous_response_id': the conversation is too long. It must have at most " +
    `${maxChainLinks} responses and ${maxChainBytes / 1024 / 1024} MiB.`
  return badRequest(message, 'context_length_exceeded', 'previous_response_id')
}

/** A cross join, because SQLite would otherwise search all responses of the organization for the ids. */
const selectLinks = statement(
  (values: Parameters<{ organization: string; ids: readonly string[] }>, { rowsOf }) =>
    select(
      { id: responses.id, head: responses.head, input: responses.input, log: responses.log },
      sql`from ${rowsOf(values.ids, 'ids')} cross join ${responses}
        where ${responses.id} = ids.value and ${eq(responses.organization_id, values.organization)}`,
    ),
)

type LinkRow = { readonly id: string; readonly head: string; readonly input: string; readonly log: string }

async function toLink({ id, head, input, log }: LinkRow): Promise<ChainLink> {
  const name = `response ${id}`
  return { id, head: parseStored(name, head), input: await parseStoredList(name, input), log }
}
