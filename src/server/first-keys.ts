import type { NewKey } from '../storage/ports/accounts.ts'
import type { NewAdminKey } from '../storage/ports/admin-keys.ts'
import { localActor } from '../storage/local-actor.ts'
import type { Storage } from '../storage/ports/storage.ts'

/** The keys that a start shows, once. */
export type FirstKeys = {
  /** The random first key of a new database; undefined for WEIR_BOOTSTRAP_KEY. */
  readonly apiKey: NewKey | undefined
  readonly adminKey: NewAdminKey | undefined
  /** Whether the gateway has an admin key: WEIR_ADMIN_KEY, or one in the database. */
  readonly hasAdminKey: boolean
}

/** Creates the first keys of a new database: of the operator, too, unless the environment chooses one of the keys. */
export async function createFirstKeys(
  storage: Pick<Storage, 'bootstrap'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<FirstKeys> {
  const { WEIR_BOOTSTRAP_KEY: configured, WEIR_ADMIN_KEY: configuredAdmin } = environment
  const actor = localActor('command_line', 'server', environment)
  const created = await storage.bootstrap({ configured, admin: !configured && !configuredAdmin, actor })
  return {
    apiKey: configured ? undefined : created.apiKey,
    adminKey: created.adminKey,
    hasAdminKey: Boolean(configuredAdmin) || created.hasAdminKey,
  }
}
