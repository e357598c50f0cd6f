import { codeOf } from '../streams/upstream-error.ts'
import { ListingError } from './model-listing.ts'

/** The last request for the list of models of a provider, which costs nothing. Times are milliseconds since 1970. */
export type ProviderCheck = {
  readonly at: number
  /** Null if the provider returned its list. */
  readonly failure: CheckFailure | null
  /** When the provider last returned its list after a failure or when it was tested; null if it never did. */
  readonly recoveredAt: number | null
}

/** Why a check failed, and the remedy, each in a sentence. */
type CheckFailure = { readonly message: string; readonly remedy: string }

/** Records the last check of each provider. */
export class ProviderChecks {
  readonly #checks = new Map<string, ProviderCheck>()

  of(provider: string): ProviderCheck | undefined {
    return this.#checks.get(provider)
  }

  /** Records that the provider returned its list; `tested` if the operator requested the check. */
  succeeded(provider: string, tested: boolean): void {
    const [at, last] = [Date.now(), this.#checks.get(provider)]
    const recovered = tested || (last !== undefined && last.failure !== null)
    this.#checks.set(provider, {
      at,
      failure: null,
      recoveredAt: recovered ? at : (last?.recoveredAt ?? null),
    })
  }

  failed(provider: string, error: unknown): void {
    const recoveredAt = this.#checks.get(provider)?.recoveredAt ?? null
    this.#checks.set(provider, { at: Date.now(), failure: explain(error), recoveredAt })
  }
}

const checkServer = 'Check that the provider is running and that its base_url is correct.'

/** In the words of the gateway: a message of the runtime names neither the provider nor a remedy. */
function explain(error: unknown): CheckFailure {
  if (error instanceof ListingError) return explainStatus(error)
  if (error instanceof Error && error.name === 'TimeoutError')
    return { message: 'The provider did not return its list of models in time.', remedy: checkServer }
  const code = codeOf(error)
  if (code !== undefined)
    return { message: `The connection to the provider failed (${code}).`, remedy: checkServer }
  return { message: 'The list of models of the provider could not be read.', remedy: checkServer }
}

function explainStatus({ status }: ListingError): CheckFailure {
  if (status === 401 || status === 403)
    return {
      message: `The provider rejected the API key with status ${status}.`,
      remedy: 'Replace the API key of the provider in the environment or in weir.yaml.',
    }
  if (status === 200)
    return {
      message: 'The provider returned something else than a list of models.',
      remedy: 'Correct its base_url: it usually ends with /v1.',
    }
  if (status === 404)
    return {
      message: 'The provider has no list of models at this address: it returned status 404.',
      remedy: 'Correct its base_url: it usually ends with /v1.',
    }
  return {
    message: `The provider returned status ${status} for its list of models.`,
    remedy: 'Look at the log of the provider, or at its status page.',
  }
}
