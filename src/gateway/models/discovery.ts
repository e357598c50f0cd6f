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
  readonly engines?: readonly Provider[]
  readonly log: Log
  /** Called when a list has changed. */
  readonly onChange: () => void
  /** Milliseconds from an answer to the next request, and the longest from a failure to it. */
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
  let loops: Promise<unknown> = Promise.resolve()

  /** Keeps one list. Resolves when the signal fires; `asked` is called when it was asked for the first time. */
  async function keep(list: ProviderList, asked: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const renewal = await list.renew(signal)
      failures = renewal === 'failed' ? failures + 1 : 0
      if (renewal === 'changed' && !signal.aborted) onChange()
      asked()
      await wait(pauseAfter(failures, interval), signal).catch(() => {})
    }
  }

  async function start(): Promise<void> {
    const kept = lists.map((list) => {
      const { promise: asked, resolve } = Promise.withResolvers<void>()
      const ended = keep(list, resolve).catch((error) => {
        log.error('The listing of models ended.', { provider: list.provider, cause: causeOf(error) })
        resolve()
      })
      return { asked, ended }
    })
    loops = Promise.all(kept.map(({ ended }) => ended))
    await Promise.all(kept.map(({ asked }) => asked))
  }

  return {
    discovered: () => new Map(lists.flatMap(answered)),
    start,
    async stop() {
      stopping.abort()
      await loops
    },
  }
}

/** Milliseconds: an engine that is starting is there soon. */
const firstPause = 1000

/** Milliseconds until a provider is asked again, after so many failures in a row. */
export function pauseAfter(failures: number, interval: number): number {
  return failures === 0 ? interval : Math.min(interval, firstPause * 2 ** (failures - 1))
}

function answered({ provider, models }: ProviderList): [string, readonly ListedModel[]][] {
  const known = models()
  return known ? [[provider, known]] : []
}
