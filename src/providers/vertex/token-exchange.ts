import { sign } from 'node:crypto'
import type { ApiError } from '../../lib/errors/errors.ts'
import { upstreamBroken, upstreamFailed } from '../../lib/errors/upstream-errors.ts'
import { fieldsOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'
import { readText } from '../../lib/read-text.ts'
import type { ServiceAccount } from './service-account.ts'

/** `endsAt` is in milliseconds. */
export type AccessToken = { readonly text: string; readonly endsAt: number }

/** In milliseconds. */
const deadline = 10_000
/** In bytes; a token has some hundred. */
const longestAnswer = 64 * 1024

/** A new access token for the account; rejects with the error that a caller of the provider gets. */
export async function exchangeToken(
  account: ServiceAccount,
  provider: string,
  now: () => number,
): Promise<AccessToken> {
  const begun = now()
  const { status, text } = await post(account, signedAssertion(account, begun)).catch(() => {
    throw unreachable(provider, 'could not be reached')
  })
  const answer = fieldsOf(parseJson(text))
  if (status >= 500 || status === 429) throw unreachable(provider, `answered with status ${status}`)
  const token = textOf(answer.access_token)
  if (status !== 200 || token === undefined || !/^[\x21-\x7e]+$/.test(token)) throw refused(provider)
  return { text: token, endsAt: begun + (numberOf(answer.expires_in) ?? 3600) * 1000 }
}

async function post(account: ServiceAccount, assertion: string): Promise<{ status: number; text: string }> {
  const response = await fetch(account.tokenUri, {
    method: 'POST',
    headers: { accept: 'application/json', 'user-agent': 'weir' },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
    redirect: 'manual',
    signal: AbortSignal.timeout(deadline),
  })
  return { status: response.status, text: await readText(response, longestAnswer) }
}

function unreachable(provider: string, why: string): ApiError {
  const message = `The provider ${provider} failed: the server that gives out its access tokens ${why}.`
  return upstreamFailed('upstream_unavailable', message)
}

function refused(provider: string): ApiError {
  const message = `The provider ${provider} gives this gateway's service account no access token.`
  return upstreamBroken('provider_key_rejected', message)
}

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
