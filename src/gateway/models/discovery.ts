import { causeOf, type Log } from '../../lib/log.ts'
import { wait } from '../../lib/wait.ts'
import type { Provider } from '../../providers/provider.ts'
import { createProviderList, type ProviderList } from './provider-list.ts'

/** What the providers that are asked for their models answered last. */
export type Discovery = {
  /** The ids by the name of the provider; a provider that never answered has no entry. */
  discovered(): ReadonlyMap<string, readonly string[]>
  /** Asks now and then every minute. Resolves when every provider has answered once or failed to. */
  start(): Promise<void>
  /** Ends the asking; resolves when nothing is under way any more. */
  stop(): Promise<void>
}

type DiscoveryInput = {
  readonly providers: Iterable<Provider>
  /** Those that nobody configured. */
  readonly engines?: readonly Provider[]
  readonly log: Log
  /** Called after a round that changed a list. */
  readonly onChange: () => void
  /** Milliseconds from the end of a round to the next. */
  readonly interval?: number
}

/** Lists the models of the providers that want it, and keeps the last good list of each. */
export function createDiscovery(input: DiscoveryInput): Discovery {
  const { providers, engines = [], log, onChange, interval = 60_000 } = input
  const lists = [
    ...[...providers].flatMap((provider) => createProviderList(provider, log) ?? []),
    ...engines.flatMap((engine) => createProviderList(engine, log, { unsure: true }) ?? []),
  ]
  const stopping = new AbortController()
  const { signal } = stopping
  let rounds: Promise<void> = Promise.resolve()

  async function round(): Promise<void> {
    const changes = await Promise.all(lists.map((list) => list.renew(signal)))
    if (changes.includes(true) && !signal.aborted) onChange()
  }

  return {
    discovered: () => new Map(lists.flatMap(answered)),
    start() {
      if (lists.length === 0) return Promise.resolve()
      const first = round()
      rounds = repeat(first, round, interval, signal).catch((error) => {
        if (!signal.aborted) log.error('The listing of models ended.', { cause: causeOf(error) })
      })
      return first
    },
    stop() {
      stopping.abort()
      return rounds
    },
  }
}

function answered({ provider, ids }: ProviderList): [string, readonly string[]][] {
  const known = ids()
  return known ? [[provider, known]] : []
}

/** Rejects with the signal's reason when it fires. */
async function repeat(
  first: Promise<void>,
  round: () => Promise<void>,
  interval: number,
  signal: AbortSignal,
): Promise<never> {
  await first
  for (;;) {
    await wait(interval, signal)
    await round()
  }
}
