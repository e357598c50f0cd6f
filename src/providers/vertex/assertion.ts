import { sign } from 'node:crypto'
import type { ServiceAccount } from './service-account.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'
/** In seconds; no longer one is taken. */
const lifetime = 3600

/** What the account says of itself, signed: it wants an access token. `now` is in milliseconds. */
export function signedAssertion(account: ServiceAccount, now: number): string {
  const issued = Math.floor(now / 1000)
  const header = { alg: 'RS256', typ: 'JWT', kid: account.keyId }
  const claims = {
    iss: account.email,
    scope,
    aud: account.tokenUri,
    iat: issued,
    exp: issued + lifetime,
  }
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), account.key).toString('base64url')}`
}

function encoded(fields: object): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url')
}
