import { createApiKey } from '../../../domain/accounting/api-key.ts'
import { defaultOrganization, parseBootstrapKey } from '../../common/bootstrap-key.ts'
import type { NewKey } from '../../ports/keys.ts'
import type { Database } from '../connection/database.ts'
import { insertOrganization } from '../organizations/organizations.ts'
import { insertKey } from './keys.ts'

/**
 * Creates the first organization and key of an empty database, and resolves with the key; undefined for any other
 * database. `configured` is the value of WEIR_BOOTSTRAP_KEY; rejects if that is not a valid key, even if it is not used.
 */
export async function bootstrap(
  { transact }: Database,
  configured?: string,
  now: number = Date.now(),
): Promise<NewKey | undefined> {
  const key = configured ? parseBootstrapKey(configured) : createApiKey()
  return await transact(async (query) => {
    // Only one of two processes that start together creates a key; the table is locked until the end.
    await query('LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE')
    const found = await query(
      '(SELECT 1 FROM organizations WHERE deletion IS NULL LIMIT 1) UNION ALL (SELECT 1 FROM api_keys LIMIT 1)',
    )
    if (found.length > 0) return undefined
    await insertOrganization(query, defaultOrganization, now)
    return await insertKey(
      query,
      { organization: defaultOrganization, name: 'first key', expiresAt: null },
      now,
      key,
    )
  })
}
