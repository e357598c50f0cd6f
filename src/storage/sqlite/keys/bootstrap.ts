import { type ApiKey, createApiKey, parseApiKey } from '../../../domain/accounting/api-key.ts'
import type { Database } from '../connection/database.ts'
import { insertKey } from './keys.ts'
import type { NewKey } from '../../ports/keys.ts'
import { organizationExists } from '../organizations/organization-row.ts'
import { insertOrganization } from '../organizations/organizations.ts'
import { api_keys, organizations } from '../tables.ts'
import type { Writer } from '../writer/writer.ts'

/** The organization that a new gateway begins with, and that commands mean when they name none. */
export const defaultOrganization = 'default'

/**
 * Gives an empty database its first organization and key, and returns the key; undefined for any other database.
 * `given` is the value of WEIR_BOOTSTRAP_KEY; one without the form of a key is an error, also when it is not needed.
 */
export async function bootstrap(
  database: Database,
  writer: Writer,
  given?: string,
  now: number = Date.now(),
): Promise<NewKey | undefined> {
  const key = given ? parseBootstrapKey(given) : createApiKey()
  // Asked inside the transaction, so that of two processes that start at once only one makes a key.
  return writer.write(() => (isEmpty(database) ? insertFirst(database, key, now) : undefined))
}

/** The key that WEIR_BOOTSTRAP_KEY gives; throws a sentence where it has not the form of one. */
export function parseBootstrapKey(given: string): ApiKey {
  const key = parseApiKey(given)
  if (key === undefined)
    throw new Error(
      'WEIR_BOOTSTRAP_KEY has not the form of a key: sk-weir-, an id of 12 letters and digits, a dash, and a secret ' +
        'of 32 to 256 letters and digits.',
    )
  return key
}

function isEmpty({ query }: Database): boolean {
  const organization = query
    .select({ id: organizations.id })
    .from(organizations)
    .where(organizationExists)
    .limit(1)
    .get()
  const key = query.select({ id: api_keys.public_id }).from(api_keys).limit(1).get()
  return organization === undefined && key === undefined
}

function insertFirst(database: Database, key: ApiKey, now: number): NewKey {
  insertOrganization(database, defaultOrganization, now)
  return insertKey(
    database,
    { organization: defaultOrganization, name: 'first key', expiresAt: null },
    now,
    key,
  )
}
