import { type ComponentChildren, createContext } from 'preact'
import { useContext, useMemo, useState } from 'preact/hooks'
import { type ApiClient, createApiClient } from './api/client.ts'
import { ApiFailure } from './api/failure.ts'

/** What an admin key may do. */
export type AdminPermission = 'read' | 'write' | 'content'

/** The keys that this tab has: one of an organization, one of an operator with what it may do, or both. */
export type Keys = {
  readonly apiKey?: string
  readonly adminKey?: string
  readonly permissions?: readonly AdminPermission[]
}

/** The keys of this tab, and the clients that use them. */
type Session = {
  readonly keys: Keys
  /** Calls the API with the key of the organization; absent without one. */
  readonly api?: ApiClient
  /** Calls the API with the admin key; absent without one. */
  readonly admin?: ApiClient
  /** What views keep while others are shown, by name; see `useKept`. */
  readonly kept: Map<string, unknown>
  /** Whether there is an admin key with the permission. The gateway decides; here it is about what the page offers. */
  may(permission: AdminPermission): boolean
  /** Adds keys, or replaces those of the same kind. */
  add(keys: Keys): void
  /** Forgets all keys. */
  signOut(): void
}

/** Those of an admin key that this tab has from a page without permissions. */
const defaultPermissions: readonly AdminPermission[] = ['read', 'write']

const SessionContext = createContext<Session | undefined>(undefined)

/** Provides the session to everything below it. */
export function SessionProvider({ children }: { readonly children: ComponentChildren }) {
  const [keys, setKeys] = useState(loadKeys)
  const session = useMemo<Session>(() => {
    const store = (next: Keys) => {
      saveKeys(next)
      setKeys(next)
    }
    return {
      keys,
      kept: new Map(),
      ...(keys.apiKey !== undefined && { api: createApiClient(keys.apiKey) }),
      ...(keys.adminKey !== undefined && { admin: createApiClient(keys.adminKey) }),
      may: (permission) =>
        keys.adminKey !== undefined && (keys.permissions ?? defaultPermissions).includes(permission),
      add: (added) => store({ ...keys, ...added }),
      signOut: () => store({}),
    }
  }, [keys])
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
}

/** The session of this tab. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('There is no session.')
  return session
}

/** The client with the key of the organization, in a view that needs one. */
export function useApi(): ApiClient {
  const { api } = useSession()
  if (api === undefined) throw new Error('This view needs an API key.')
  return api
}

/** The client with the admin key, in a view that needs one. */
export function useAdminApi(): ApiClient {
  const { admin } = useSession()
  if (admin === undefined) throw new Error('This view needs an admin key.')
  return admin
}

/** Finds out of which kinds these keys are, and leaves out those that are not valid; throws why if none is. */
export async function identifyKeys(keys: readonly string[]): Promise<Keys> {
  const results = await Promise.allSettled(keys.map(identifyKey))
  const accepted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const rejected = results.find((result) => result.status === 'rejected')
  if (accepted.length === 0 && rejected !== undefined) throw rejected.reason
  return Object.assign({}, ...accepted) as Keys
}

/** The start of an API key and of an admin key; the value of WEIR_ADMIN_KEY is any text. */
const keyPrefix = 'sk-weir-'
const adminKeyPrefix = 'sk-weir-admin-'

async function identifyKey(key: string): Promise<Keys> {
  const client = createApiClient(key)
  const isApiKey = key.startsWith(keyPrefix) && !key.startsWith(adminKeyPrefix)
  const asApiKey = isApiKey ? await replyTo(client.get('/v1/models')) : unknownKey
  if (!(asApiKey instanceof ApiFailure)) return { apiKey: key }
  const asAdminKey = await replyTo(client.get<Required<Pick<Keys, 'permissions'>>>('/admin/admin_key'))
  if (!(asAdminKey instanceof ApiFailure)) return { adminKey: key, permissions: asAdminKey.permissions }
  throw asAdminKey.code === 'invalid_admin_key' ? asAdminKey : asApiKey
}

const unknownKey = new ApiFailure(
  `This is no key of the gateway. API keys begin with ${keyPrefix}, admin keys with ${adminKeyPrefix}, and it is not ` +
    'the WEIR_ADMIN_KEY of the gateway. To create an admin key, run on its machine: weir admin-keys create',
  { status: 401 },
)

/** Resolves also with the failure of a request whose key is not accepted. */
async function replyTo<Value>(request: Promise<Value>): Promise<Value | ApiFailure> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return error
    throw error
  }
}

/** Where the tab keeps its keys. `sessionStorage` ends with the tab; no other tab and no server can read it. */
const storageKey = 'weir.keys'

/** A longer text is not a key. */
const maxKeyLength = 512

/** Reads the keys of this tab. */
function loadKeys(): Keys {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}')
    const { apiKey, adminKey, permissions } = (stored ?? {}) as Readonly<Record<string, unknown>>
    return {
      ...keyField('apiKey', apiKey),
      ...keyField('adminKey', adminKey),
      ...(Array.isArray(permissions) && { permissions: permissions as readonly AdminPermission[] }),
    }
  } catch {
    // Written by something else.
    return {}
  }
}

/** Keeps the keys until the tab is closed. */
function saveKeys(keys: Keys): void {
  if (keys.apiKey === undefined && keys.adminKey === undefined) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, JSON.stringify(keys))
}

/** Returns the keys of a link such as `/#key=sk-…`, and removes them from the address and the history at once. */
export function takeKeysFromAddress(): readonly string[] | undefined {
  if (!/^#\/?\??key=/.test(location.hash)) return undefined
  const parameters = new URLSearchParams(location.hash.replace(/^#\/?\??/, ''))
  history.replaceState(null, '', `${location.pathname}#/`)
  const keys = parameters.getAll('key').flatMap((text) => toKey(text) ?? [])
  return keys.length > 0 ? keys : undefined
}

/** Returns the key in a text that a person has entered; undefined if it cannot be one. */
export function toKey(text: string): string | undefined {
  const key = text.trim().replace(/^bearer\s+/i, '')
  // Other characters are not allowed in a header.
  return /^[\x21-\x7e]+$/.test(key) && key.length <= maxKeyLength ? key : undefined
}

function keyField(name: 'apiKey' | 'adminKey', value: unknown): Keys {
  const key = typeof value === 'string' ? toKey(value) : undefined
  return key === undefined ? {} : { [name]: key }
}
