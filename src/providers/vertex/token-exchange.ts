import { sign } from 'node:crypto'
import type { ApiError } from '../../lib/errors/errors.ts'
import { upstreamBroken, upstreamFailed } from '../../lib/errors/upstream-errors.ts'
import { fieldsOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'
import { readText } from '../../lib/read-text.ts'
import type { ServiceAccount } from './service-account.ts'

/** `expiresAt` is in milliseconds. */
export type AccessToken = { readonly text: string; readonly expiresAt: number }

const timeoutMs = 10_000
/** A token has some hundred bytes. */
const maxResponseBytes = 64 * 1024

/** Requests a new access token for the account; rejects with the error that the caller of the API receives. */
export async function exchangeToken(
  account: ServiceAccount,
  provider: string,
  now: () => number,
): Promise<AccessToken> {
  const startedAt = now()
  const { status, text } = await post(account, signedAssertion(account, startedAt)).catch(() => {
    throw unreachable(provider, 'could not be reached')
  })
  const fields = fieldsOf(parseJson(text))
  if (status >= 500 || status === 429) throw unreachable(provider, `returned status ${status}`)
  const token = textOf(fields.access_token)
  if (status !== 200 || token === undefined || !/^[\x21-\x7e]+$/.test(token)) throw rejected(provider)
  return { text: token, expiresAt: startedAt + (numberOf(fields.expires_in) ?? 3600) * 1000 }
}

async function post(account: ServiceAccount, assertion: string): Promise<{ status: number; text: string }> {
  const response = await fetch(account.tokenUri, {
    method: 'POST',
    headers: { accept: 'application/json', 'user-agent': 'weir' },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: response.status, text: await readText(response, maxResponseBytes) }
}

function unreachable(provider: string, why: string): ApiError {
  const message = `The provider ${provider} failed: the server that issues its access tokens ${why}.`
  return upstreamFailed('upstream_unavailable', message)
}

function rejected(provider: string): ApiError {
  const message = `The provider ${provider} issued no access token for the service account of the gateway.`
  return upstreamBroken('provider_key_rejected', message)
}

const scope = 'https://www.googleapis.com/auth/cloud-platform'
/** The maximum that Google accepts. */
const lifetimeSeconds = 3600

/** The signed JWT assertion that requests an access token. `now` is in milliseconds. */
function signedAssertion(account: ServiceAccount, now: number): string {
  const issued = Math.floor(now / 1000)
  const header = { alg: 'RS256', typ: 'JWT', kid: account.keyId }
  const claims = {
    iss: account.email,
    scope,
    aud: account.tokenUri,
    iat: issued,
    exp: issued + lifetimeSeconds,
  }
  const unsigned = `${encode(header)}.${encode(claims)}`
  return `${unsigned}.${sign('sha256', Buffer.from(unsigned), account.key).toString('base64url')}`
}

function encode(fields: object): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url')
}
