import type { Organizations } from '../../ports/organizations.ts'
import * as scripts from '../../scripts/organizations.ts'
import type { Database } from '../connection/database.ts'
import { createScriptRunner } from '../run-script.ts'
import type { Writer } from '../writer/writer.ts'
import { createOrganizationDeletions } from './organization-deletion.ts'

/** The organizations in the SQLite database. `now` returns milliseconds since 1970. */
export function createOrganizations(database: Database, writer: Writer, now?: () => number): Organizations {
  const deletions = createOrganizationDeletions(database, writer)
  return scripts.createOrganizations(createScriptRunner(database, writer), deletions, now)
}
