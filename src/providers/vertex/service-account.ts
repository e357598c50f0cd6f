import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fieldsOf, parseJson, textOf } from '../../lib/json/json.ts'

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
