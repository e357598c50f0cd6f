import { causeOf, type Log } from '../../lib/log.ts'
import { wait } from '../../lib/time.ts'
import type { ListedModel, Provider } from '../../providers/provider.ts'
import { listModels } from './model-listing.ts'

/** Lists the models of providers in the background. */
type Discovery = {
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

/** The models that one provider listed. */
type ProviderList = {
  /** The provider's name. */
  readonly provider: string
  /** The last good list; undefined before the first. */
  models(): readonly ListedModel[] | undefined
  /** Requests the list. */
  refresh(signal: AbortSignal): Promise<RefreshResult>
}

/** The result of a refresh: a different list than the last good one, the same, or none. */
type RefreshResult = 'changed' | 'unchanged' | 'failed'

type ListOptions = {
  /** The provider is not configured: a failure is not logged, and its timeout is short. */
  readonly optional?: boolean
}

/** A server on this machine responds at once. */
const optionalTimeoutMs = 1000

/** Creates the list; undefined for a provider without discovery. Changes are logged, not every refresh. */
function createProviderList(
  provider: Provider,
  log: Log,
  { optional = false }: ListOptions = {},
): ProviderList | undefined {
  const { name, kind, discover } = provider
  if (!discover || !('protocol' in kind)) return undefined
  let known: readonly ListedModel[] | undefined
  let failure: string | undefined

  function accept(models: readonly ListedModel[]): RefreshResult {
    const changed = known === undefined || !sameModels(known, models)
    if (changed || failure !== undefined)
      log.info('A model list was read.', { provider: name, models: models.length })
    known = models
    failure = undefined
    return changed ? 'changed' : 'unchanged'
  }

  function reject(cause: string): void {
    if (optional && known === undefined) return
    if (failure !== cause) log.warn('A model list could not be read.', { provider: name, cause })
    failure = cause
  }

  return {
    provider: name,
    models: () => known,
    async refresh(signal) {
      try {
        return accept(
          await listModels(provider, kind, signal, {
            known,
            ...(optional && { deadline: optionalTimeoutMs }),
          }),
        )
      } catch (error) {
        if (!signal.aborted) reject(causeOf(error))
        return 'failed'
      }
    },
  }
}

function sameModels(before: readonly ListedModel[], after: readonly ListedModel[]): boolean {
  if (before.length !== after.length) return false
  const windows = new Map(before.map(({ id, contextWindow }) => [id, contextWindow]))
  return after.every(({ id, contextWindow }) => windows.has(id) && windows.get(id) === contextWindow)
}
