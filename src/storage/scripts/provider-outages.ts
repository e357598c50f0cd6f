import { eq, sql } from 'drizzle-orm'
import type { Webhooks } from '../ports/webhooks.ts'
import { provider_outages as outages } from '../schema/webhooks.ts'
import { insertion, returning, select } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { writeEvent } from './webhook-events.ts'

/** The outages of providers in a database. */
export function createOutages(
  { read, transact }: ScriptRunner,
  now: () => number,
): Pick<Webhooks, 'providerDown' | 'providerUp' | 'outages'> {
  return {
    providerDown: (provider, data) => transact(() => providerDown(provider, data, now())),
    providerUp: (provider, data) => transact(() => providerUp(provider, data, now())),
    async outages() {
      const rows = await read(selectOutages)
      return new Map(rows.map(({ provider, since }) => [provider, since]))
    },
  }
}

const selectOutages = statement(() =>
  select({ provider: outages.provider, since: outages.since }, sql`from ${outages}`),
)

/** Only the transaction that inserts the row writes the event, however many processes notice the outage. */
function* providerDown(provider: string, data: string, now: number): Script<void> {
  const inserted = yield* insertOutage({ provider, since: now })
  if (inserted.length > 0) yield* writeEvent({ type: 'provider.down', createdAt: now, data })
}

const insertOutage = insertion(
  outages,
  ['provider', 'since'],
  returning({ since: outages.since }, sql`on conflict do nothing`),
)

function* providerUp(provider: string, data: (since: number) => string, now: number): Script<void> {
  const [ended] = yield* deleteOutage({ provider })
  if (ended) yield* writeEvent({ type: 'provider.up', createdAt: now, data: data(ended.since) })
}

const deleteOutage = statement(({ provider }: Parameters<{ provider: string }>) =>
  returning({ since: outages.since }, sql`delete from ${outages} where ${eq(outages.provider, provider)}`),
)
