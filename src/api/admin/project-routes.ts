import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { describe } from '../../http/describe.ts'
import { toAllowanceChange } from '../../http/limits.ts'
import { invalidCursor, pageParameters, renderSlice, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { jsonText } from '../../http/reply.ts'
import { stringEnum } from '../../http/schema.ts'
import type { ProjectRecord } from '../../storage/ports/accounts.ts'
import { adminErrors, type AdminGuard, changeErrors } from './admin-guard.ts'
import { heldDescription } from './held-budgets.ts'
import { nearEndParameter, nearEndTime } from './near-end.ts'
import { DeletedProject, newProject, ProjectList, ProjectObject, projectUpdate } from './project-schema.ts'
import type { ProjectService } from './projects.ts'

const path = '/admin/projects'
const itemPath = `${path}/:project` as const
const listQuery = defineQuery({
  ...pageParameters('project', 'asc'),
  organization: Type.Optional(
    Type.String({ description: 'Only projects of this organization. Its ID or its name.' }),
  ),
  include_deleted: Type.Optional(
    stringEnum(['true', 'false'], { description: 'Whether deleted projects are listed, too.' }),
  ),
  near_end: nearEndParameter('projects that exist and have used 80 % of their budget'),
})
const described = {
  tag: 'Admin',
  reply: ProjectObject,
  path: { project: 'The ID of a project.' },
} as const

const listDetail = describe({
  tag: 'Admin',
  id: 'listProjects',
  summary: 'List projects',
  description: 'Lists the projects of all organizations, or of one, with their limits.',
  query: listQuery.parameters,
  reply: ProjectList,
  errors: [400, 404, ...adminErrors],
})
const createDetail = describe({
  tag: 'Admin',
  id: 'createProject',
  summary: 'Create a project',
  description:
    'Creates a project of an organization: a person, a team or an application, which has API keys and limits.',
  body: newProject,
  examples: {
    team: {
      summary: 'A team with a monthly budget',
      value: { organization: 'default', name: 'search', budget_usd: '200', budget_period: 'month' },
    },
  },
  reply: ProjectObject,
  errors: [404, ...changeErrors],
})
const findDetail = describe({
  ...described,
  id: 'getProject',
  summary: 'Get a project',
  description: 'Returns a project with its limits and what is left of its budget.',
  errors: [404, ...adminErrors],
})
const updateDetail = describe({
  ...described,
  id: 'updateProject',
  summary: 'Change a project',
  description: 'Changes the name and the limits of a project. Absent fields stay as they are.',
  body: projectUpdate,
  examples: { models: { summary: 'A few models', value: { models: ['anthropic/*', 'openai/gpt-5-mini'] } } },
  errors: [404, ...changeErrors],
})
const removeDetail = describe({
  ...described,
  id: 'deleteProject',
  summary: 'Delete a project',
  description: 'Deletes a project. Requests with its API keys are rejected at once; its usage stays.',
  reply: DeletedProject,
  errors: [404, ...adminErrors],
})
const releaseDetail = describe({
  ...described,
  id: 'releaseProjectBudget',
  summary: 'Release what is held of the budget of a project',
  description: heldDescription,
  errors: [400, 404, ...adminErrors],
})

/** The routes of projects. */
export function projectAdminRoutes(guard: AdminGuard, service: ProjectService) {
  return new Elysia({ name: 'admin-projects' })
    .use(guard)
    .get(path, ({ request }) => listPage(service, request), { detail: listDetail })
    .post(
      path,
      async ({ readChange, request, actor }) => {
        const { organization, name, ...limits } = await readChange(request, newProject)
        return toObject(service, service.create(actor, { ...toAllowanceChange(limits), organization, name }))
      },
      { detail: createDetail },
    )
    .use(itemRoutes(guard, service))
}

function itemRoutes(guard: AdminGuard, service: ProjectService) {
  return new Elysia({ name: 'admin-project' })
    .use(guard)
    .get(itemPath, ({ params }) => toObject(service, service.find(params.project)), { detail: findDetail })
    .patch(
      itemPath,
      async ({ readChange, request, params, actor }) => {
        const { name, ...limits } = await readChange(request, projectUpdate)
        return toObject(
          service,
          service.change(actor, params.project, { ...toAllowanceChange(limits), name }),
        )
      },
      { detail: updateDetail },
    )
    .delete(
      itemPath,
      async ({ params, actor }) => {
        const { id } = await service.delete(actor, params.project)
        return { id, object: 'project.deleted', deleted: true }
      },
      { detail: removeDetail },
    )
    .post(
      `${itemPath}/release_held`,
      ({ params, actor }) => toObject(service, service.releaseHeld(actor, params.project)),
      { detail: releaseDetail },
    )
}

async function toObject(service: ProjectService, project: Promise<ProjectRecord>) {
  const [rendered] = await service.render([await project])
  return rendered
}

async function listPage(service: ProjectService, request: Request): Promise<Response> {
  const { organization, include_deleted, near_end, ...page } = listQuery.read(request)
  const filter = { organization, deleted: include_deleted === 'true', nearEndAt: nearEndTime(near_end) }
  const found = await service.page(filter, toPage(page))
  if (found === undefined) throw invalidCursor('a project of this list')
  return jsonText(renderSlice({ ...found, items: await service.render(found.items) }))
}
