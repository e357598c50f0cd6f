import { type ApiKey, createApiKey } from '../../../domain/accounting/api-key.ts'
import { defaultOrganization, parseBootstrapKey } from '../../common/bootstrap-key.ts'
import type { Database } from '../connection/database.ts'
import { insertKey } from './keys.ts'
import type { NewKey } from '../../ports/keys.ts'
import { organizationExistsSql } from '../organizations/organization-row.ts'
import { insertOrganization } from '../organizations/organizations.ts'
import type { Writer } from '../writer/writer.ts'

/**
 * Creates the first organization and key of an empty database, and resolves with the key; undefined for any other
 * database. `configured` is the value of WEIR_BOOTSTRAP_KEY; rejects if that is not a valid key, even if it is not used.
 */
export async function bootstrap(
  database: Database,
  writer: Writer,
  configured?: string,
  now: number = Date.now(),
): Promise<NewKey | undefined> {
  const key = configured ? parseBootstrapKey(configured) : createApiKey()
  // Checked inside the transaction, so that only one of two processes that start together creates a key.
  return writer.write(() => (isEmpty(database) ? insertFirst(database, key, now) : undefined))
}

/** Plain SQL, because this runs at each start, where the first use of the query builder takes milliseconds. */
function isEmpty({ sqlite }: Database): boolean {
  const first = `SELECT 1 FROM organizations WHERE ${organizationExistsSql} UNION ALL SELECT 1 FROM api_keys LIMIT 1`
  return sqlite.prepare(first).get() === null
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
