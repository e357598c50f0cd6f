import { causeOf, type Log } from '../../lib/log.ts'
import type { Provider } from '../../providers/provider.ts'
import { listModels } from './model-listing.ts'

/** The models that one provider said it has. */
export type ProviderList = {
  /** The provider's name. */
  readonly provider: string
  /** The last good answer; absent before the first. */
  ids(): readonly string[] | undefined
  /** Asks the provider. True where its answer is another than the last good one. */
  renew(signal: AbortSignal): Promise<boolean>
}

export type ListOptions = {
  /** Nobody configured the provider: that it does not answer is no news, and it is not waited for. */
  readonly unsure?: boolean
}

/** Milliseconds: what runs on this machine answers at once. */
const shortWait = 1000

/** Absent for a provider that is not to be asked. The log hears of a change, not of each round. */
export function createProviderList(
  provider: Provider,
  log: Log,
  { unsure = false }: ListOptions = {},
): ProviderList | undefined {
  const { name, kind, discover } = provider
  if (!discover || !('wire' in kind)) return undefined
  let known: readonly string[] | undefined
  let failure: string | undefined

  function accept(ids: readonly string[]): boolean {
    const changed = known === undefined || !sameIds(known, ids)
    if (changed || failure !== undefined)
      log.info('A provider listed its models.', { provider: name, models: ids.length })
    known = ids
    failure = undefined
    return changed
  }

  function reject(cause: string): false {
    if (unsure && known === undefined) return false
    if (failure !== cause) log.warn('A provider did not list its models.', { provider: name, cause })
    failure = cause
    return false
  }

  return {
    provider: name,
    ids: () => known,
    renew: (signal) =>
      listModels(provider, kind, signal, unsure ? shortWait : undefined).then(
        accept,
        (error) => !signal.aborted && reject(causeOf(error)),
      ),
  }
}

function sameIds(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && after.every((id) => before.includes(id))
}
