import type { Webhooks } from '../../storage/ports/webhooks.ts'

type ProviderAlertsOptions = {
  readonly webhooks: Pick<Webhooks, 'providerDown' | 'providerUp' | 'outages'>
  /** The routes whose circuit is open in this process. */
  readonly openCircuits: () => readonly { readonly provider: string; readonly model: string }[]
  /** When the last successful request to a provider has begun in this process; 0 if there was none. */
  readonly lastSuccess: (provider: string) => number
}

/**
 * Returns a function to call every second, which writes `provider.down` when the first circuit of a provider opens, and
 * `provider.up` when the provider has served a request that began later and none is open. Whichever process of the
 * database sees that first writes it.
 */
export function createProviderAlerts({ webhooks, openCircuits, lastSuccess }: ProviderAlertsOptions) {
  let known: ReadonlySet<string> = new Set()

  return async function checkProviders(): Promise<void> {
    const open = Map.groupBy(openCircuits(), ({ provider }) => provider)
    for (const [provider, circuits] of open) {
      const models = circuits.slice(0, maxModels).map(({ model }) => model)
      if (!known.has(provider)) await webhooks.providerDown(provider, JSON.stringify({ provider, models }))
    }
    known = new Set(open.keys())
    for (const [provider, since] of await webhooks.outages())
      if (!open.has(provider) && lastSuccess(provider) > since)
        await webhooks.providerUp(provider, (since) =>
          JSON.stringify({ provider, down_since: Math.floor(since / 1000) }),
        )
  }
}

/** The names of models in an event. */
const maxModels = 20
