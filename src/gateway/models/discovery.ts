import { causeOf, type Log } from '../../lib/log.ts'
import { wait } from '../../lib/time.ts'
import type { ListedModel, Provider, RemoteKind } from '../../providers/provider.ts'
import { listModels } from './model-listing.ts'
import { ProviderChecks } from './provider-check.ts'

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

/** Lists the models of providers in the background, and keeps the last good list of each. */
export function createDiscovery(input: DiscoveryInput, checks = new ProviderChecks()) {
  const { log, onChange, intervalMs = 60_000 } = input
  const lists = allLists(input, checks)
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

  /**
   * Starts the listing, now and then every minute; a provider that fails is retried after 1, 2, 4 … 60
   * seconds. Resolves when every provider has responded or failed once.
   */
  async function start(): Promise<void> {
    const running = lists.map((list) => {
      const { promise: first, resolve } = Promise.withResolvers<void>()
      const ended = refreshLoop(list, resolve).catch((error) => {
        log.error('Model discovery has stopped.', { provider: list.provider.name, cause: causeOf(error) })
        resolve()
      })
      return { first, ended }
    })
    loops = Promise.all(running.map(({ ended }) => ended))
    await Promise.all(running.map(({ first }) => first))
  }

  return {
    /** The result of the last request to each provider. */
    checks: checks as Pick<ProviderChecks, 'of'>,
    /** The models by provider name; a provider that never responded has no entry. */
    discovered: () => new Map(lists.flatMap(discoveredEntry)),
    start,
    /** Lists the models of a provider at once, also of one without discovery; the result is in `checks`. */
    async test(provider: Provider) {
      if (await testProvider(provider, lists, { log, checks }, signal)) onChange()
    },
    /** Stops the listing; resolves when no request is in flight. */
    async stop() {
      controller.abort()
      await loops
    },
  }
}

/** Lists the models of a provider once; returns whether that has changed one of the lists. */
async function testProvider(
  provider: Provider,
  lists: readonly ProviderList[],
  options: ListOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const known = lists.find((list) => list.provider.name === provider.name)
  const [list] = known ? [known] : listsOf([{ ...provider, discover: true }], options)
  return (await list?.refresh(signal, true)) === 'changed' && known !== undefined && !signal.aborted
}

/** A starting engine is ready soon. */
const minPauseMs = 1000

/** Milliseconds until the next request, after so many failures in a row. */
export function retryPauseMs(failures: number, intervalMs: number): number {
  return failures === 0 ? intervalMs : Math.min(intervalMs, minPauseMs * 2 ** (failures - 1))
}

function discoveredEntry({ provider, models }: ProviderList): [string, readonly ListedModel[]][] {
  return models ? [[provider.name, models]] : []
}

/** The lists of the providers, and of the engines that may not be running. */
function allLists({ providers, localEngines = [], log }: DiscoveryInput, checks: ProviderChecks) {
  return [...listsOf(providers, { log, checks }), ...listsOf(localEngines, { log, checks, optional: true })]
}

/** The lists of the providers with discovery. */
function listsOf(providers: Iterable<Provider>, options: ListOptions): ProviderList[] {
  return [...providers].flatMap((provider) => {
    const { kind, discover } = provider
    return discover && 'protocol' in kind ? [new ProviderList(provider, kind, options)] : []
  })
}

type ListOptions = {
  readonly log: Log
  readonly checks: ProviderChecks
  /** True for an engine that may not be running. */
  readonly optional?: boolean
}

/** The result of a refresh: a different list than the last good one, the same, or none. */
type RefreshResult = 'changed' | 'unchanged' | 'failed'

/** A server on this machine responds at once. */
const optionalTimeoutMs = 1000

/** The models that one provider listed. Changes are logged, not every refresh; failures of an optional provider are not. */
class ProviderList {
  readonly provider: Provider
  readonly #kind: RemoteKind
  readonly #log: Log
  readonly #checks: ProviderChecks
  readonly #optional: boolean
  #models: readonly ListedModel[] | undefined
  #failure: string | undefined

  constructor(provider: Provider, kind: RemoteKind, { log, checks, optional = false }: ListOptions) {
    this.provider = provider
    this.#kind = kind
    this.#log = log
    this.#checks = checks
    this.#optional = optional
  }

  /** The last good list; undefined before the first. */
  get models(): readonly ListedModel[] | undefined {
    return this.#models
  }

  /** Requests the list; `tested` if the operator has requested that. */
  async refresh(signal: AbortSignal, tested = false): Promise<RefreshResult> {
    const options = { known: this.#models, ...(this.#optional && { deadline: optionalTimeoutMs }) }
    try {
      const models = await listModels(this.provider, this.#kind, signal, options)
      this.#checks.succeeded(this.provider.name, tested)
      return this.#accept(models)
    } catch (error) {
      if (signal.aborted) return 'failed'
      this.#checks.failed(this.provider.name, error)
      this.#reject(causeOf(error))
      return 'failed'
    }
  }

  #accept(models: readonly ListedModel[]): RefreshResult {
    const changed = this.#models === undefined || !sameModels(this.#models, models)
    if (changed || this.#failure !== undefined)
      this.#log.info('A model list was read.', { provider: this.provider.name, models: models.length })
    this.#models = models
    this.#failure = undefined
    return changed ? 'changed' : 'unchanged'
  }

  #reject(cause: string): void {
    if (this.#optional && this.#models === undefined) return
    if (this.#failure !== cause)
      this.#log.warn('A model list could not be read.', { provider: this.provider.name, cause })
    this.#failure = cause
  }
}

function sameModels(before: readonly ListedModel[], after: readonly ListedModel[]): boolean {
  if (before.length !== after.length) return false
  const windows = new Map(before.map(({ id, contextWindow }) => [id, contextWindow]))
  return after.every(({ id, contextWindow }) => windows.has(id) && windows.get(id) === contextWindow)
}
