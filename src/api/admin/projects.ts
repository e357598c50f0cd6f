import { type ChangeDependencies, createChanges } from '../../http/changes.ts'
import { loggedLimits } from '../../http/limits.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import { createAccountRenderer, renderProject } from '../../http/render-accounts.ts'
import type {
  ProjectChange,
  ProjectInput,
  ProjectPageQuery,
  ProjectQueries,
  ProjectRecord,
} from '../../storage/ports/accounts.ts'
import type { PageQuery } from '../../storage/ports/listed-pages.ts'
import type { Actor } from '../../storage/ports/audit.ts'
import { adminChange, releaseHeld } from './accounts.ts'
import { findOrganization } from './organizations.ts'

/** The projects of a list; `organization` is an id or a name. */
type ProjectFilter = Pick<ProjectPageQuery, 'deleted' | 'nearEndAt'> & {
  readonly organization?: string | undefined
}

/** The changes that the operator makes to projects. See `MakeChange`. */
export type ProjectService = ReturnType<typeof createProjectService>

export function createProjectService(parts: ChangeDependencies) {
  const { organizations, projects, budgets } = parts.managed
  return {
    ...createProjectChanges(parts),
    async page({ organization, ...filter }: ProjectFilter, query: PageQuery) {
      const owner = organization && (await findOrganization(organizations, organization))
      return projects.page({ ...query, ...filter, organizationId: owner ? owner.id : undefined })
    },
    render: createAccountRenderer(budgets, 'project', renderProject),
    find: (id: string) => findProject(projects, id),
  }
}

function createProjectChanges(parts: ChangeDependencies) {
  const { organizations, projects } = parts.managed
  const change = createChanges(parts, adminChange)
  return {
    /** `organization` is an id or a name. */
    create: (by: Actor, input: ProjectInput) =>
      change(
        by,
        'project.create',
        async ({ projects }) => {
          const owner = await findOrganization(organizations, input.organization)
          return projects.create({ ...input, organization: owner.name })
        },
        ({ id, organization, name }) => ({ project: id, organization, name, ...loggedLimits(input) }),
      ),
    change: (by: Actor, id: string, properties: ProjectChange) =>
      change(
        by,
        'project.change',
        async ({ projects }) => {
          requireExisting(await findProject(projects, id))
          return projects.change(id, properties)
        },
        ({ organization, name }) => ({ project: id, organization, name, ...loggedLimits(properties) }),
      ),
    releaseHeld: (by: Actor, id: string) =>
      releaseHeld(change, by, 'project', () => findProject(projects, id)),
    delete: (by: Actor, id: string) =>
      change(
        by,
        'project.delete',
        ({ projects }) => projects.delete(id),
        ({ organization, name }) => ({ project: id, organization, name }),
      ),
  }
}

async function findProject(projects: Pick<ProjectQueries, 'find'>, id: string): Promise<ProjectRecord> {
  const project = await projects.find(id)
  if (project === undefined)
    throw adminObjectNotFound(`There is no project with the ID '${id.slice(0, 100)}'.`)
  return project
}

function requireExisting({ name, deletedAt }: ProjectRecord): void {
  if (deletedAt !== null) throw badRequest(`The project ${name} was deleted.`, 'invalid_value', null)
}
