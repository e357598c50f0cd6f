import { causeOf, type Log } from '../../lib/log.ts'
import type { ListedModel, Provider } from '../../providers/provider.ts'
import { listModels } from './model-listing.ts'

/** The models that one provider listed. */
export type ProviderList = {
  /** The provider's name. */
  readonly provider: string
  /** The last good list; undefined before the first. */
  models(): readonly ListedModel[] | undefined
  /** Requests the list. */
  refresh(signal: AbortSignal): Promise<RefreshResult>
}

/** The result of a refresh: a different list than the last good one, the same, or none. */
export type RefreshResult = 'changed' | 'unchanged' | 'failed'

export type ListOptions = {
  /** The provider is not configured: a failure is not logged, and its timeout is short. */
  readonly optional?: boolean
}

/** A server on this machine responds at once. */
const optionalTimeoutMs = 1000

/** Creates the list; undefined for a provider without discovery. Changes are logged, not every refresh. */
export function createProviderList(
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
