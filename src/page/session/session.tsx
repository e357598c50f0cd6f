import { createContext, type ComponentChildren } from 'preact'
import { useContext, useMemo, useState } from 'preact/hooks'
import { type ApiClient, createApiClient } from '../api/client.ts'
import { type Keys, saveKeys } from './keys.ts'

/** The keys of this tab, and the clients that use them. */
export type Session = {
  readonly keys: Keys
  /** Calls the API with the key of the organization; absent without one. */
  readonly api?: ApiClient
  /** Calls the API with the admin key; absent without one. */
  readonly admin?: ApiClient
  /** Adds keys, or replaces those of the same kind. */
  add(keys: Keys): void
  /** Forgets all keys. */
  signOut(): void
}

const SessionContext = createContext<Session | undefined>(undefined)

/** Provides the session to everything below it. */
export function SessionProvider({
  initial,
  children,
}: {
  readonly initial: Keys
  readonly children: ComponentChildren
}) {
  const [keys, setKeys] = useState(initial)
  const session = useMemo<Session>(() => {
    const store = (next: Keys) => {
      saveKeys(next)
      setKeys(next)
    }
    return {
      keys,
      ...(keys.apiKey !== undefined && { api: createApiClient(keys.apiKey) }),
      ...(keys.adminKey !== undefined && { admin: createApiClient(keys.adminKey) }),
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
  if (admin === undefined) throw new Error('This view needs the admin key.')
  return admin
}
