import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { withAbort } from '../../lib/abort.ts'
import type { ApiError } from '../../lib/errors/errors.ts'
import { upstreamBroken, upstreamFailed } from '../../lib/errors/upstream-errors.ts'
import { fieldsOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'
import { readText } from '../../lib/read-text.ts'
import type { Credentials } from '../provider.ts'

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

/** `expiresAt` is in milliseconds. */
type AccessToken = { readonly text: string; readonly expiresAt: number }

const timeoutMs = 10_000
/** A token has some hundred bytes. */
const maxResponseBytes = 64 * 1024

/** Requests a new access token for the account; rejects with the error that the caller of the API receives. */
async function exchangeToken(
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

/** A Google Cloud service account, from its key file. */
export type ServiceAccount = {
  readonly email: string
  readonly key: KeyObject
  readonly keyId?: string
  /** The URL that exchanges a signed assertion for an access token. */
  readonly tokenUri: string
}

/** Reads the account from the file. Returns a sentence on failure, which never contains the content of the file. */
export function readServiceAccount(path: string): ServiceAccount | string {
  const text = contentOf(path)
  if (text === undefined) return 'is not a readable file.'
  const fields = fieldsOf(parseJson(text))
  const email = textOf(fields.client_email)
  const key = privateKey(textOf(fields.private_key) ?? '')
  const tokenUri = textOf(fields.token_uri) ?? 'https://oauth2.googleapis.com/token'
  if (
    fields.type !== 'service_account' ||
    email === undefined ||
    key === undefined ||
    !URL.canParse(tokenUri)
  )
    return 'must be the JSON key file of a service account.'
  return { email, key, keyId: textOf(fields.private_key_id), tokenUri }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function privateKey(text: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(text)
    return key.asymmetricKeyType === 'rsa' ? key : undefined
  } catch {
    return undefined
  }
}
