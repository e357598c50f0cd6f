import { and, eq, isNull, sql } from 'drizzle-orm'
import type { UsageFilters } from '../ports/usage.ts'
import { api_keys, organizations, projects } from '../schema/organizations.ts'
import { nullable, select } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'

/**
 * Returns the organizations that own all of these keys, or of these projects if there is no list of keys; undefined if one
 * of them is not known, or there is neither list. Those of deleted organizations are known, and are left out.
 */
export function* ownersOf({
  keys,
  projects,
}: Pick<UsageFilters, 'keys' | 'projects'>): Script<readonly string[] | undefined> {
  if (keys !== undefined) return yield* ownersIn(selectOwnersOfKeys, keys)
  return projects && (yield* ownersIn(selectOwnersOfProjects, projects))
}

function* ownersIn(
  selectOwners: ReturnType<typeof ownersBy>,
  ids: readonly string[],
): Script<readonly string[] | undefined> {
  const distinct = [...new Set(ids)]
  const found = yield* selectOwners({ ids: distinct })
  if (found.length < distinct.length) return undefined
  return [...new Set(found.flatMap(({ owner }) => owner ?? []))]
}

const selectOwnersOfKeys = ownersBy(api_keys, api_keys.public_id)
const selectOwnersOfProjects = ownersBy(projects, projects.id)

function ownersBy(
  table: typeof api_keys | typeof projects,
  id: typeof api_keys.public_id | typeof projects.id,
) {
  return statement((values: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
    select(
      { owner: nullable(organizations.id) },
      sql`from ${table} left join ${organizations}
        on ${and(eq(organizations.id, table.organization_id), isNull(organizations.deletion))}
        where ${isOneOf(id, values.ids)}`,
    ),
  )
}
