import type { BillingDatabase } from '../../../support/billing-database.ts'
import type { Acknowledged } from '../../faults/support/kill-client.ts'
import type { Receipt, ReplicaProvider } from './replica-provider.ts'
import type { Replicas } from './replicas.ts'

/** Enough of the log to see what happened around the failure. */
const maxLogLines = 200

/**
 * Returns the background runs that the provider has received more than once, with all that is known of them: when and by
 * which processes they were sent, which of those were killed, what is stored and charged, and what the gateways have
 * logged. One response that was sent twice is a fault of the gateways; two responses, of the client.
 */
export async function repeatedRuns(
  { books, hits, log }: Pick<Replicas, 'books' | 'hits' | 'log'>,
  { runs }: Pick<ReplicaProvider, 'runs'>,
  memory: Acknowledged,
): Promise<readonly object[]> {
  const repeated = [...runs].filter(([, receipts]) => receipts.length > 1)
  const found = repeated.map(([input, receipts]) => describeRun(books, input, receipts, memory))
  if (found.length === 0) return []
  return [...(await Promise.all(found)), { hits: hits.map(withTime), log: log().slice(-maxLogLines) }]
}

async function describeRun(
  { rows, usageOf, entriesOf }: BillingDatabase,
  input: string,
  receipts: readonly Receipt[],
  { stored }: Acknowledged,
): Promise<object> {
  const [unique = input] = /[0-9a-f-]{36}/.exec(input) ?? []
  const responses = await rows<{ readonly id: string }>(
    'SELECT id, status, deletion, log FROM responses WHERE input LIKE ?',
    `%${unique}%`,
  )
  const requests = stored
    .filter(({ path }) => responses.some(({ id }) => path.endsWith(id)))
    .map(async ({ request, state, object: { status } }) => ({
      request,
      acknowledged: { state, status },
      usage: await usageOf(request),
      ledger: await entriesOf(request),
    }))
  return { input, receipts: receipts.map(withTime), responses, requests: await Promise.all(requests) }
}

function withTime<Moment extends { readonly at: number }>(moment: Moment): object {
  return { ...moment, at: new Date(moment.at).toISOString() }
}
