import { and, eq, isNull, sql } from 'drizzle-orm'
import type { UsageFilters } from '../ports/usage.ts'
import { api_keys, organizations, projects } from '../schema/organizations.ts'
import { nullable, select } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'

/**
 * Returns the organizations whose requests a report has that is only of these keys, or of these projects: all others have
 * none. It is undefined for a report of neither, and if a key or a project does not exist.
 */
export function* ownersOf({
  keys,
  projects,
}: Pick<UsageFilters, 'keys' | 'projects'>): Script<readonly string[] | undefined> {
  if (keys !== undefined) return yield* ownersOfKeys(keys)
  return projects && (yield* ownersOfProjects(projects))
}

const ownersOfKeys = ownersIn(api_keys, api_keys.public_id)
const ownersOfProjects = ownersIn(projects, projects.id)

function ownersIn(
  table: typeof api_keys | typeof projects,
  id: typeof api_keys.public_id | typeof projects.id,
) {
  const selectOwners = statement((values: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
    select(
      { owner: nullable(organizations.id) },
      sql`from ${table} left join ${organizations}
        on ${and(eq(organizations.id, table.organization_id), isNull(organizations.deletion))}
        where ${isOneOf(id, values.ids)}`,
    ),
  )
  return function* (ids: readonly string[]): Script<readonly string[] | undefined> {
    const distinct = [...new Set(ids)]
    const found = yield* selectOwners({ ids: distinct })
    if (found.length < distinct.length) return undefined
    // Keys of a deleted organization still exist, without an owner.
    return [...new Set(found.flatMap(({ owner }) => owner ?? []))]
  }
}
