import { causeOf, type Log } from '../../lib/log.ts'
import type { ListedModel } from '../../providers/model-listing.ts'
import type { Provider } from '../../providers/provider.ts'
import { listModels } from './model-listing.ts'

/** The models that one provider said it has. */
export type ProviderList = {
  /** The provider's name. */
  readonly provider: string
  /** The last good answer; absent before the first. */
  models(): readonly ListedModel[] | undefined
  /** Asks the provider. */
  refresh(signal: AbortSignal): Promise<RefreshResult>
}

/** What came of asking: another list than the last good one, the same, or none. */
export type RefreshResult = 'changed' | 'unchanged' | 'failed'

export type ListOptions = {
  /** Nobody configured the provider: that it does not answer is no news, and it is not waited for. */
  readonly optional?: boolean
}

/** Milliseconds: what runs on this machine answers at once. */
const optionalTimeoutMs = 1000

/** Absent for a provider that is not to be asked. The log hears of a change, not of each time. */
export function createProviderList(
  provider: Provider,
  log: Log,
  { optional: unsure = false }: ListOptions = {},
): ProviderList | undefined {
  const { name, kind, discover } = provider
  if (!discover || !('protocol' in kind)) return undefined
  let known: readonly ListedModel[] | undefined
  let failure: string | undefined

  function accept(models: readonly ListedModel[]): RefreshResult {
    const changed = known === undefined || !sameModels(known, models)
    if (changed || failure !== undefined)
      log.info('A provider listed its models.', { provider: name, models: models.length })
    known = models
    failure = undefined
    return changed ? 'changed' : 'unchanged'
  }

  function reject(cause: string): void {
    if (unsure && known === undefined) return
    if (failure !== cause) log.warn('A provider did not list its models.', { provider: name, cause })
    failure = cause
  }

  return {
    provider: name,
    models: () => known,
    async refresh(signal) {
      try {
        return accept(
          await listModels(provider, kind, signal, { known, ...(unsure && { deadline: optionalTimeoutMs }) }),
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
