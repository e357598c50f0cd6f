import type { Organizations } from '../../ports/organizations.ts'
import * as scripts from '../../scripts/organizations.ts'
import type { Database } from '../connection/database.ts'
import { createScriptRunner } from '../run-script.ts'
import { createOrganizationDeletions } from './organization-deletion.ts'

/** The organizations in the PostgreSQL database. `now` returns milliseconds since 1970. */
export function createOrganizations(database: Database, now?: () => number): Organizations {
  return scripts.createOrganizations(createScriptRunner(database), createOrganizationDeletions(database), now)
}
