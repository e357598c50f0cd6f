import { withAbort } from '../../lib/abort.ts'
import type { Credentials } from '../provider.ts'
import type { ServiceAccount } from './service-account.ts'
import { type AccessToken, exchangeToken } from './token-exchange.ts'

/** A token is renewed this long before it expires. */
const renewBeforeMs = 5 * 60 * 1000

/**
 * The access tokens of a service account. A token is used until shortly before it expires, and then renewed by one
 * exchange for all callers. Callers wait for it only once the current token has expired.
 */
export function createCredentials(
  account: ServiceAccount,
  provider: string,
  now: () => number = Date.now,
): Credentials {
  let current: AccessToken | undefined
  let exchange: Promise<AccessToken> | undefined

  function renew(): Promise<AccessToken> {
    exchange ??= exchangeToken(account, provider, now)
      .then((token) => (current = token))
      .finally(() => (exchange = undefined))
    return exchange
  }

  return {
    async token(signal) {
      const remainingMs = current ? current.expiresAt - now() : 0
      if (current && remainingMs > renewBeforeMs) return current.text
      const renewal = renew()
      // An abort ends only the wait of this caller: others may need the token.
      if (!current || remainingMs <= 0) return (await withAbort(renewal, signal)).text
      // The next call tries again.
      renewal.catch(() => {})
      return current.text
    },
  }
}
