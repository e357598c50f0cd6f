import { causeOf, type Log } from '../../lib/log.ts'
import { wait } from '../../lib/time.ts'
import type { ListedModel } from '../../providers/model-listing.ts'
import type { Provider } from '../../providers/provider.ts'
import { createProviderList, type ProviderList } from './provider-list.ts'

/** What the providers that are asked for their models answered last. */
export type Discovery = {
  /** The models by the name of the provider; a provider that never answered has no entry. */
  discovered(): ReadonlyMap<string, readonly ListedModel[]>
  /**
   * Asks now and then every minute; one that did not answer is asked again after 1, 2, 4 … 60 seconds. Resolves when every
   * provider has answered once or failed to.
   */
  start(): Promise<void>
  /** Ends the asking; resolves when nothing is under way any more. */
  stop(): Promise<void>
}

type DiscoveryInput = {
  readonly providers: Iterable<Provider>
  /** Those that nobody configured. */
  readonly localEngines?: readonly Provider[]
  readonly log: Log
  /** Called when a list has changed. */
  readonly onChange: () => void
  /** Milliseconds from an answer to the next request, and the longest from a failure to it. */
  readonly intervalMs?: number
}

/** Lists the models of the providers that want it, and keeps the last good list of each. */
export function createDiscovery(input: DiscoveryInput): Discovery {
  const { providers, localEngines: engines = [], log, onChange, intervalMs: interval = 60_000 } = input
  const lists = [
    ...[...providers].flatMap((provider) => createProviderList(provider, log) ?? []),
    ...engines.flatMap((engine) => createProviderList(engine, log, { optional: true }) ?? []),
  ]
  const controller = new AbortController()
  const { signal } = controller
  let loops: Promise<unknown> = Promise.resolve()

  /** Keeps one list. Resolves when the signal fires; `asked` is called when it was asked for the first time. */
  async function refreshLoop(list: ProviderList, onFirst: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const result = await list.refresh(signal)
      failures = result === 'failed' ? failures + 1 : 0
      if (result === 'changed' && !signal.aborted) onChange()
      onFirst()
      await wait(retryPauseMs(failures, interval), signal).catch(() => {})
    }
  }

  async function start(): Promise<void> {
    const loopsByList = lists.map((list) => {
      const { promise: onFirst, resolve } = Promise.withResolvers<void>()
      const ended = refreshLoop(list, resolve).catch((error) => {
        log.error('The listing of models ended.', { provider: list.provider, cause: causeOf(error) })
        resolve()
      })
      return { asked: onFirst, ended }
    })
    loops = Promise.all(loopsByList.map(({ ended }) => ended))
    await Promise.all(loopsByList.map(({ asked: onFirst }) => onFirst))
  }

  return {
    discovered: () => new Map(lists.flatMap(discoveredEntry)),
    start,
    async stop() {
      controller.abort()
      await loops
    },
  }
}

/** Milliseconds: an engine that is starting is there soon. */
const minPauseMs = 1000

/** Milliseconds until a provider is asked again, after so many failures in a row. */
export function retryPauseMs(failures: number, interval: number): number {
  return failures === 0 ? interval : Math.min(interval, minPauseMs * 2 ** (failures - 1))
}

function discoveredEntry({ provider, models }: ProviderList): [string, readonly ListedModel[]][] {
  const listed = models()
  return listed ? [[provider, listed]] : []
}
