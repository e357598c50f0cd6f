import { causeOf, type Log } from '../../lib/log.ts'
import { wait } from '../../lib/time.ts'
import type { ListedModel, Provider } from '../../providers/provider.ts'
import { createProviderList, type ProviderList } from './provider-list.ts'

/** Lists the models of providers in the background. */
export type Discovery = {
  /** The models by provider name; a provider that never responded has no entry. */
  discovered(): ReadonlyMap<string, readonly ListedModel[]>
  /**
   * Starts the listing, now and then every minute; a provider that fails is retried after 1, 2, 4 … 60
   * seconds. Resolves when every provider has responded or failed once.
   */
  start(): Promise<void>
  /** Stops the listing; resolves when no request is in flight. */
  stop(): Promise<void>
}

type DiscoveryInput = {
  readonly providers: Iterable<Provider>
  /** Engines on this machine that are not configured. */
  readonly localEngines?: readonly Provider[]
  readonly log: Log
  /** Called when a list has changed. */
  readonly onChange: () => void
  /** Milliseconds between two requests, and the longest pause after a failure. */
  readonly intervalMs?: number
}

/** Creates the discovery, which stores the last good list of each provider. */
export function createDiscovery(input: DiscoveryInput): Discovery {
  const { providers, localEngines = [], log, onChange, intervalMs = 60_000 } = input
  const lists = [
    ...[...providers].flatMap((provider) => createProviderList(provider, log) ?? []),
    ...localEngines.flatMap((engine) => createProviderList(engine, log, { optional: true }) ?? []),
  ]
  const controller = new AbortController()
  const { signal } = controller
  let loops: Promise<unknown> = Promise.resolve()

  /** Refreshes one list until the signal is aborted; calls `onFirst` after the first attempt. */
  async function refreshLoop(list: ProviderList, onFirst: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const result = await list.refresh(signal)
      failures = result === 'failed' ? failures + 1 : 0
      if (result === 'changed' && !signal.aborted) onChange()
      onFirst()
      await wait(retryPauseMs(failures, intervalMs), signal).catch(() => {})
    }
  }

  async function start(): Promise<void> {
    const running = lists.map((list) => {
      const { promise: first, resolve } = Promise.withResolvers<void>()
      const ended = refreshLoop(list, resolve).catch((error) => {
        log.error('Model discovery has stopped.', { provider: list.provider, cause: causeOf(error) })
        resolve()
      })
      return { first, ended }
    })
    loops = Promise.all(running.map(({ ended }) => ended))
    await Promise.all(running.map(({ first }) => first))
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

/** A starting engine is ready soon. */
const minPauseMs = 1000

/** Milliseconds until the next request, after so many failures in a row. */
export function retryPauseMs(failures: number, intervalMs: number): number {
  return failures === 0 ? intervalMs : Math.min(intervalMs, minPauseMs * 2 ** (failures - 1))
}

function discoveredEntry({ provider, models }: ProviderList): [string, readonly ListedModel[]][] {
  const listed = models()
  return listed ? [[provider, listed]] : []
}
