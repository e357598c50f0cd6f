import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import type { ServiceAccount } from '../../../../src/providers/config/service-account.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** The parsed request to the server; `genuine` if the signature is that of the account. */
type Assertion = {
  readonly grant: string | null
  readonly header: Record<string, unknown>
  readonly claims: Record<string, unknown>
  readonly genuine: boolean
}

/** A server on loopback that issues tokens, and the account that receives them. */
export function tokenServer(reply: (count: number) => Response | Promise<Response>) {
  const requested: Assertion[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      requested.push(readAssertion(new URLSearchParams(await request.text())))
      return reply(requested.length)
    },
  })
  const account: ServiceAccount = {
    email: 'weir@example-project.iam.gserviceaccount.com',
    key: privateKey,
    keyId: 'key-1',
    tokenUri: `http://127.0.0.1:${server.port}/token`,
  }
  return { asked: requested, account, [Symbol.dispose]: () => void server.stop(true) }
}

/** The reply with a token that is valid for this many seconds. */
export function tokenReply(text: string, seconds = 3600): Response {
  return Response.json({ access_token: text, expires_in: seconds, token_type: 'Bearer' })
}

/** The key file of the account. */
export function keyFile(account: ServiceAccount): Record<string, unknown> {
  return {
    type: 'service_account',
    project_id: 'example-project',
    private_key_id: account.keyId,
    private_key: account.key.export({ type: 'pkcs8', format: 'pem' }),
    client_email: account.email,
    token_uri: account.tokenUri,
  }
}

function readAssertion(form: URLSearchParams): Assertion {
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
  const signed = Buffer.from(`${header}.${claims}`)
  const genuine = verify('sha256', signed, createPublicKey(privateKey), Buffer.from(signature, 'base64url'))
  return { grant: form.get('grant_type'), header: decoded(header), claims: decoded(claims), genuine }
}

function decoded(text: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}
