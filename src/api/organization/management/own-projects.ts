import type { AddressOf } from '../../../http/actor.ts'
import type { ChangeDependencies } from '../../../http/changes.ts'
import { loggedLimits } from '../../../http/limits.ts'
import { createAccountRenderer, type WithBudget, withBudget } from '../../../http/render-accounts.ts'
import { renderLimits } from '../../../http/render-limits.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../../lib/errors/http-errors.ts'
import type {
  ProjectChange,
  ProjectInput,
  ProjectQueries,
  ProjectRecord,
} from '../../../storage/ports/accounts.ts'
import type { PageQuery } from '../../../storage/ports/listed-pages.ts'
import { type ChangeOwn, createOwnChanges, type Manager, secondsOf, secondsOrNull } from './permission.ts'

/** The stores of managed organizations, and what changes of them need. */
export type ManagementDependencies = ChangeDependencies & { readonly addressOf: AddressOf }

/** The projects of the organization of a key. One of another organization does not exist: 404. */
export type OwnProjects = ReturnType<typeof createOwnProjects>

export function createOwnProjects(parts: ManagementDependencies) {
  const { projects, budgets } = parts.managed
  const found = createProjectFinder(projects)
  return {
    ...found,
    ...createProjectChanges(found, createOwnChanges(parts)),
    page: ({ organization }: Manager, query: PageQuery & { readonly deleted: boolean }) =>
      projects.page({ ...query, organizationId: organization.id }),
    /** What is left of the budget of a project; undefined without one. */
    budgetOf: async (project: ProjectRecord) => (await withBudget({ budgets }, project)).state,
    render: createAccountRenderer(budgets, 'organization.project', renderOwnProject),
  }
}

function createProjectFinder(projects: ProjectQueries) {
  async function find({ organization }: Manager, id: string): Promise<ProjectRecord> {
    const project = await projects.find(id)
    if (project?.organizationId === organization.id) return project
    throw adminObjectNotFound(`There is no project with the ID '${id.slice(0, 100)}' in this organization.`)
  }

  return {
    find,
    /** Throws 400 for an archived one. */
    async findActive(manager: Manager, id: string): Promise<ProjectRecord> {
      const project = await find(manager, id)
      if (project.deletedAt === null) return project
      throw badRequest(`The project ${project.name} is archived.`, 'invalid_value', null)
    },
  }
}

function createProjectChanges(
  { find, findActive }: ReturnType<typeof createProjectFinder>,
  change: ChangeOwn,
) {
  return {
    create: (manager: Manager, input: Omit<ProjectInput, 'organization'>) =>
      change(
        manager,
        'project.create',
        ({ projects }) => projects.create({ ...input, organization: manager.organization.name }),
        ({ id, name }) => ({ project: id, name, ...loggedLimits(input) }),
      ),
    /** Throws 400 for an archived one. */
    change: (manager: Manager, id: string, properties: ProjectChange) =>
      change(
        manager,
        'project.change',
        async ({ projects }) => projects.change((await findActive(manager, id)).id, properties),
        ({ name }) => ({ project: id, name, ...loggedLimits(properties) }),
      ),
    archive: (manager: Manager, id: string) =>
      change(
        manager,
        'project.delete',
        async ({ projects }) => projects.delete((await find(manager, id)).id),
        ({ name }) => ({ project: id, name }),
      ),
  }
}

/** Renders a project as OpenAI's API has it, with Weir's limits. */
function renderOwnProject({ account, state }: WithBudget<ProjectRecord>) {
  const { id, name, createdAt, deletedAt, limits } = account
  return {
    id,
    name,
    created_at: secondsOf(createdAt),
    archived_at: secondsOrNull(deletedAt),
    status: deletedAt === null ? 'active' : 'archived',
    ...renderLimits(limits, state),
  }
}
