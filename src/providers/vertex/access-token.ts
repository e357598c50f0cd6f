import { withAbort } from '../../lib/abort.ts'
import type { Credentials } from '../provider.ts'
import type { ServiceAccount } from './service-account.ts'
import { type AccessToken, exchangeToken } from './token-exchange.ts'

/** Milliseconds before its end at which a token is replaced. */
const early = 5 * 60 * 1000

/**
 * The access tokens of a service account: each is used until it nears its end, and then replaced by one exchange,
 * however many callers want it. While the old one is still good, nobody waits.
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
      const left = current ? current.endsAt - now() : 0
      if (current && left > early) return current.text
      const renewal = renew()
      // A caller who leaves ends only the waiting: the others still want the token.
      if (!current || left <= 0) return (await withAbort(renewal, signal)).text
      // Whoever asks next tries again.
      renewal.catch(() => {})
      return current.text
    },
  }
}
