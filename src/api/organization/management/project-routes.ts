import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { bodyErrors, describe, guardErrors } from '../../../http/describe.ts'
import { toAllowanceChange } from '../../../http/limits.ts'
import { invalidCursor, pageParameters, renderSlice, toPage } from '../../../http/paging.ts'
import { defineQuery } from '../../../http/query.ts'
import { jsonText } from '../../../http/reply.ts'
import { stringEnum } from '../../../http/schema.ts'
import type { ProjectRecord } from '../../../storage/ports/accounts.ts'
import type { OwnProjects } from './own-projects.ts'
import type { Manager, PermissionGuard } from './permission.ts'
import { newOwnProject, OwnProject, OwnProjectList, ownProjectUpdate } from './project-schema.ts'

/** The path of the projects of an organization. */
export const projectsPath = '/v1/organization/projects'
/** The path of one of them. */
export const projectPath = `${projectsPath}/:project_id` as const

/** The description of its path parameter. */
export const projectParameter = { project_id: 'The ID of a project of the organization.' }

const listQuery = defineQuery({
  ...pageParameters('project', 'asc'),
  include_archived: Type.Optional(
    stringEnum(['true', 'false'], { description: 'Whether archived projects are listed, too.' }),
  ),
})
const described = { tag: 'Organization', reply: OwnProject, path: projectParameter } as const
const permission = 'Requires an API key with the permission `admin`.'

const listDetail = describe({
  tag: 'Organization',
  id: 'listOrganizationProjects',
  summary: 'List the projects of the organization',
  description: `Lists the projects of the organization of the API key, with their limits. ${permission}`,
  query: listQuery.parameters,
  reply: OwnProjectList,
  errors: [400, ...guardErrors],
})
const createDetail = describe({
  tag: 'Organization',
  id: 'createOrganizationProject',
  summary: 'Create a project of the organization',
  description: `Creates a project in the organization of the API key. ${permission}`,
  body: newOwnProject,
  examples: {
    team: {
      summary: 'A team with a monthly budget',
      value: { name: 'ranking', budget_usd: '200', budget_period: 'month' },
    },
  },
  reply: OwnProject,
  errors: bodyErrors,
})
const findDetail = describe({
  ...described,
  id: 'getOrganizationProject',
  summary: 'Get a project of the organization',
  description: `Returns a project with its limits and what is left of its budget. ${permission}`,
  errors: [404, ...guardErrors],
})
const updateDetail = describe({
  ...described,
  id: 'updateOrganizationProject',
  summary: 'Change a project of the organization',
  description: `Changes the name and the limits of a project. Absent fields stay as they are. ${permission}`,
  body: ownProjectUpdate,
  examples: { name: { summary: 'Another name', value: { name: 'search and ranking' } } },
  errors: [404, ...bodyErrors],
})
const archiveDetail = describe({
  ...described,
  id: 'archiveOrganizationProject',
  summary: 'Archive a project of the organization',
  description: `Archives a project. Requests with its API keys are rejected at once; its usage stays. ${permission}`,
  errors: [404, ...guardErrors],
})

/** The projects of an organization, as OpenAI's API has them. */
export function ownProjectRoutes(guard: PermissionGuard, projects: OwnProjects) {
  return new Elysia({ name: 'organization-projects' })
    .use(guard)
    .get(projectsPath, ({ caller, request }) => listPage(projects, caller, request), { detail: listDetail })
    .post(
      projectsPath,
      async ({ readBody, request, caller, admission }) => {
        const body = await readBody(request, newOwnProject, { admission, caller }, { isFree: true })
        return toObject(projects, projects.create(caller, { ...toAllowanceChange(body), name: body.name }))
      },
      { detail: createDetail },
    )
    .use(itemRoutes(guard, projects))
}

function itemRoutes(guard: PermissionGuard, projects: OwnProjects) {
  return new Elysia({ name: 'organization-project' })
    .use(guard)
    .get(projectPath, ({ caller, params }) => toObject(projects, projects.find(caller, params.project_id)), {
      detail: findDetail,
    })
    .post(
      projectPath,
      async ({ readBody, request, caller, admission, params }) => {
        const body = await readBody(request, ownProjectUpdate, { admission, caller }, { isFree: true })
        const change = { ...toAllowanceChange(body), name: body.name ?? undefined }
        return toObject(projects, projects.change(caller, params.project_id, change))
      },
      { detail: updateDetail },
    )
    .post(
      `${projectPath}/archive`,
      ({ caller, params }) => toObject(projects, projects.archive(caller, params.project_id)),
      { detail: archiveDetail },
    )
}

async function toObject(projects: OwnProjects, project: Promise<ProjectRecord>) {
  const [rendered] = await projects.render([await project])
  return rendered
}

async function listPage(projects: OwnProjects, manager: Manager, request: Request): Promise<Response> {
  const { include_archived, ...query } = listQuery.read(request)
  const page = await projects.page(manager, { ...toPage(query), deleted: include_archived === 'true' })
  if (page === undefined) throw invalidCursor('a project of the organization')
  return jsonText(renderSlice({ ...page, items: await projects.render(page.items) }))
}
