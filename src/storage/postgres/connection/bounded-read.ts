import { isCanceled, toOutage } from '../postgres-errors.ts'
import type { Statement } from '../writer/statement.ts'
import type { Connection, Connections } from './connections.ts'

/** The server ends a statement first; this is for a server that does not answer. */
const graceMs = 1000
/** The rows of a page. */
const pageRows = 2000

/** To compile such a statement takes longer than to run it; its intermediate results need memory. All rows are read. */
const settings = "SET LOCAL jit = off; SET LOCAL work_mem = '64MB'; SET LOCAL cursor_tuple_fraction = 1"

/** See `createPagedReads`. */
export type ReadPages = ReturnType<typeof createPagedReads>

/**
 * Returns a function that reads with one statement, and passes the rows on in pages, however many there are: the next page is
 * on its way while one is handled. The server itself ends the statement after the timeout, so that nothing goes on working
 * for a caller that has its error; it rejects with `timeoutError()` then, and with 503 if the database is unavailable.
 */
export function createPagedReads(connections: Connections) {
  return async function readPages<Row>(
    statement: Statement,
    timeoutMs: number,
    timeoutError: () => Error,
    onPage: (rows: readonly Row[]) => Promise<void>,
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs
    await readOnly(connections, timeoutMs, timeoutError, async (send) => {
      for await (const rows of pagesOf<Row>(statement, send, timeoutMs + graceMs)) {
        if (performance.now() > deadline) throw timeoutError()
        await onPage(rows)
      }
    })
  }
}

/** Runs the work in a transaction that only reads; what it sends without waiting is sent with the beginning. */
async function readOnly(
  connections: Connections,
  timeoutMs: number,
  timeoutError: () => Error,
  work: (send: Connection['send']) => Promise<void>,
): Promise<void> {
  const begin = `BEGIN READ ONLY; SET LOCAL statement_timeout = ${Math.max(1, Math.floor(timeoutMs))}`
  try {
    await connections.use(async ({ send }) => {
      await Promise.all([send(`${begin}; ${settings}`), work(send)])
      await send('COMMIT')
    })
  } catch (error) {
    throw isCanceled(error) ? timeoutError() : toOutage(error)
  }
}

async function* pagesOf<Row>(
  { text, values }: Statement,
  send: Connection['send'],
  timeoutMs: number,
): AsyncGenerator<readonly Row[]> {
  const declared = send(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values, timeoutMs)
  const fetch = () => send<Row>(`FETCH ${pageRows} FROM page`, [], timeoutMs)
  const [, first] = await Promise.all([declared, fetch()])
  for (let { rows } = first; ;) {
    const next = rows.length < pageRows ? undefined : fetch()
    // It is awaited after this page, unless the reader stops.
    next?.catch(() => {})
    yield rows
    if (next === undefined) return
    rows = (await next).rows
  }
}
