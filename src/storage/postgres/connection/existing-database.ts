import type { Secret } from '../../../lib/secret.ts'
import { openConnections } from './connections.ts'
import { operatorError } from './database.ts'
import { databaseLabel } from './database-url.ts'
import { schemaVersion } from './migrate.ts'
import { migrations } from './migrations.ts'

/** Rejects with an error for the operator if the database cannot be reached, or has a newer schema. Changes nothing. */
export async function checkPostgres(url: Secret): Promise<void> {
  const label = databaseLabel(url)
  const connections = openConnections(url, 1)
  try {
    await connections.use(schemaVersion(label, migrations))
  } catch (error) {
    throw operatorError(error, label)
  } finally {
    await connections.close()
  }
}
