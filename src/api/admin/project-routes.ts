import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { changeBody, closedBody, limitFields, toAllowanceChange } from '../../http/limits.ts'
import { noOwnLimit } from '../../http/objects/limits.ts'
import { listSchema, pageParameters, pageReply, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { ProjectObject } from '../../http/objects/accounts.ts'
import { renderOne } from '../../http/render-accounts.ts'
import { storableText, stringEnum, text } from '../../http/schema.ts'
import { heldDescription, nearEndParameter, nearEndTime } from './accounts.ts'
import { type AdminGuard, describeAdmin } from './admin-guard.ts'
import type { ProjectService } from './projects.ts'

const path = '/admin/projects'
const itemPath = `${path}/:project` as const
const listQuery = defineQuery({
  ...pageParameters('project', 'asc'),
  organization: Type.Optional(text('Only projects of this organization. Its ID or its name.')),
  include_deleted: Type.Optional(
    stringEnum(['true', 'false'], { description: 'Whether deleted projects are listed, too.' }),
  ),
  near_end: nearEndParameter('projects that exist and have used 80 % of their budget'),
})

const name = storableText({
  minLength: 1,
  maxLength: 128,
  description: 'A name that is unique within the organization. At most 128 characters.',
})
const organization = text('The organization of the project. Its ID or its name.')
const newProject = closedBody('NewProject', { organization, name, ...limitFields(noOwnLimit) })

/** Absent fields stay. */
const projectUpdate = changeBody('ProjectUpdate', { name: Type.Optional(name), ...limitFields(noOwnLimit) })

const DeletedProject = Type.Object(
  { id: Type.String(), object: Type.Literal('project.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedProject' },
)

const described = { reply: ProjectObject, path: { project: 'The ID of a project.' } } as const

const listDetail = describeAdmin({
  id: 'listProjects',
  summary: 'List projects',
  description: 'Lists the projects of all organizations, or of one, with their limits.',
  query: listQuery.parameters,
  reply: listSchema(ProjectObject, 'ProjectList'),
  errors: [404],
})
const createDetail = describeAdmin({
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
  errors: [404],
})
const findDetail = describeAdmin({
  ...described,
  id: 'getProject',
  summary: 'Get a project',
  description: 'Returns a project with its limits and what is left of its budget.',
})
const updateDetail = describeAdmin({
  ...described,
  id: 'updateProject',
  summary: 'Change a project',
  description: 'Changes the name and the limits of a project. Absent fields stay as they are.',
  body: projectUpdate,
  examples: { models: { summary: 'A few models', value: { models: ['anthropic/*', 'openai/gpt-6-luna'] } } },
})
const removeDetail = describeAdmin({
  ...described,
  id: 'deleteProject',
  summary: 'Delete a project',
  description: 'Deletes a project. Requests with its API keys are rejected at once; its usage stays.',
  reply: DeletedProject,
})
const releaseDetail = describeAdmin({
  ...described,
  ...heldDescription('a project'),
  id: 'releaseProjectBudget',
})

/** The routes of projects. */
export function projectAdminRoutes(guard: AdminGuard, service: ProjectService) {
  return new Elysia({ name: 'admin-projects' })
    .use(guard)
    .get(path, ({ request }) => listPage(service, request), { detail: listDetail })
    .post(
      path,
      async ({ readChange, actor }) => {
        const { organization, name, ...limits } = await readChange(newProject)
        const input = { ...toAllowanceChange(limits), organization, name }
        return renderOne(service, service.create(actor, input))
      },
      { detail: createDetail },
    )
    .use(itemRoutes(guard, service))
}

function itemRoutes(guard: AdminGuard, service: ProjectService) {
  return new Elysia({ name: 'admin-project' })
    .use(guard)
    .get(itemPath, ({ params }) => renderOne(service, service.find(params.project)), { detail: findDetail })
    .patch(
      itemPath,
      async ({ readChange, params, actor }) => {
        const { name, ...limits } = await readChange(projectUpdate)
        const change = { ...toAllowanceChange(limits), name }
        return renderOne(service, service.change(actor, params.project, change))
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
      ({ params, actor }) => renderOne(service, service.releaseHeld(actor, params.project)),
      { detail: releaseDetail },
    )
}

async function listPage(service: ProjectService, request: Request): Promise<Response> {
  const { organization, include_deleted, near_end, ...query } = listQuery.read(request)
  const filter = { organization, deleted: include_deleted === 'true', nearEndAt: nearEndTime(near_end) }
  const page = await service.page(filter, toPage(query))
  return pageReply(page, 'a project of this list', service.render)
}
