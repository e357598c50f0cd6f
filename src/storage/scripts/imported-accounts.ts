import { noProjectNamed } from '../common/account-rules.ts'
import type { AccountImport, NewKey } from '../ports/accounts.ts'
import type { Script } from '../statement.ts'
import type { Change } from './audit.ts'
import { createKey } from './keys.ts'
import { accountNamed } from './organizations.ts'
import { createProject, idOfProject } from './projects.ts'

/** Creates projects and keys in one transaction; throws an error for the operator if one is not valid. */
export function* importAccounts(
  { organization, projects, keys }: AccountImport,
  by: Change,
): Script<readonly NewKey[]> {
  const { id: organizationId } = yield* accountNamed(organization)
  for (const project of projects)
    if ((yield* idOfProject(organizationId, project.name)) === undefined)
      yield* createProject({ ...project, organization }, by)
  const created: NewKey[] = []
  for (const { project: name, ...key } of keys) {
    const project = name === null ? null : yield* idOfProject(organizationId, name)
    if (project === undefined) throw noProjectNamed(name ?? '')
    created.push(yield* createKey({ ...key, organization, project }, by))
  }
  return created
}
