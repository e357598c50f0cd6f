import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { closedBody, limitFields, toAllowanceChange } from '../../../http/limits.ts'
import { limitProperties, noOwnLimit } from '../../../http/objects/limits.ts'
import { listSchema, pageParameters, pageReply, toPage } from '../../../http/paging.ts'
import { defineQuery } from '../../../http/query.ts'
import { renderOne } from '../../../http/render-accounts.ts'
import { objectType, storableText, stringEnum, text } from '../../../http/schema.ts'
import type { OwnProjects } from './own-projects.ts'
import { describeManagement, type Manager, type PermissionGuard } from './permission.ts'

const projectsPath = '/v1/organization/projects'
/** The path of a project of an organization. */
export const projectPath = `${projectsPath}/:project_id` as const

/** The description of its path parameter. */
export const projectParameter = { project_id: 'The ID of a project of the organization.' }

const listQuery = defineQuery({
  ...pageParameters('project', 'asc'),
  include_archived: Type.Optional(
    stringEnum(['true', 'false'], { description: 'Whether archived projects are listed, too.' }),
  ),
})

const name = storableText({
  minLength: 1,
  maxLength: 128,
  description: 'A name that is unique within the organization. At most 128 characters.',
})

const unsupported = (what: string) =>
  Type.Optional(Type.Null({ description: `${what} Only null is possible.` }))

/** The properties of OpenAI's projects that those of Weir do not have. */
const openaiOnly = {
  external_key_id: unsupported('A key for encryption.'),
  geography: unsupported('The region of the data.'),
}

const newOwnProject = closedBody('NewOrganizationProject', {
  name,
  ...openaiOnly,
  residency: unsupported('The region of the data.'),
  ...limitFields(noOwnLimit),
})

/** Absent fields stay. */
const ownProjectUpdate = closedBody('OrganizationProjectUpdate', {
  name: Type.Optional(Type.Union([name, Type.Null()], { description: 'The new name.' })),
  ...openaiOnly,
  ...limitFields(noOwnLimit),
})

/** A project as OpenAI's API has it, with Weir's limits. */
const OwnProject = Type.Object(
  {
    object: objectType('organization.project'),
    id: text('The ID.'),
    name: text('The name.'),
    created_at: Type.Integer({ description: 'When it was created. In Unix seconds.' }),
    archived_at: Type.Union([Type.Integer(), Type.Null()], {
      description: 'When it was archived, in Unix seconds; null for an active one.',
    }),
    status: stringEnum(['active', 'archived'], { description: 'Whether its API keys are accepted.' }),
    ...limitProperties(noOwnLimit),
  },
  { title: 'OrganizationProject' },
)

const described = { reply: OwnProject, path: projectParameter } as const

const listDetail = describeManagement({
  id: 'listOrganizationProjects',
  summary: 'List the projects of the organization',
  description: 'Lists the projects of the organization of the API key, with their limits.',
  query: listQuery.parameters,
  reply: listSchema(OwnProject, 'OrganizationProjectList'),
})
const createDetail = describeManagement({
  id: 'createOrganizationProject',
  summary: 'Create a project of the organization',
  description: 'Creates a project in the organization of the API key.',
  body: newOwnProject,
  examples: {
    team: {
      summary: 'A team with a monthly budget',
      value: { name: 'ranking', budget_usd: '200', budget_period: 'month' },
    },
  },
  reply: OwnProject,
})
const findDetail = describeManagement({
  ...described,
  id: 'getOrganizationProject',
  summary: 'Get a project of the organization',
  description: 'Returns a project with its limits and what is left of its budget.',
})
const updateDetail = describeManagement({
  ...described,
  id: 'updateOrganizationProject',
  summary: 'Change a project of the organization',
  description: 'Changes the name and the limits of a project. Absent fields stay as they are.',
  body: ownProjectUpdate,
  examples: { name: { summary: 'Another name', value: { name: 'search and ranking' } } },
})
const archiveDetail = describeManagement({
  ...described,
  id: 'archiveOrganizationProject',
  summary: 'Archive a project of the organization',
  description: 'Archives a project. Requests with its API keys are rejected at once; its usage stays.',
})

/** The projects of an organization, as OpenAI's API has them. */
export function ownProjectRoutes(guard: PermissionGuard, projects: OwnProjects) {
  return new Elysia({ name: 'organization-projects' })
    .use(guard)
    .get(projectsPath, ({ caller, request }) => listPage(projects, caller, request), { detail: listDetail })
    .post(
      projectsPath,
      async ({ readChange, caller }) => {
        const body = await readChange(newOwnProject)
        return renderOne(projects, projects.create(caller, { ...toAllowanceChange(body), name: body.name }))
      },
      { detail: createDetail },
    )
    .get(projectPath, ({ caller, params }) => renderOne(projects, projects.find(caller, params.project_id)), {
      detail: findDetail,
    })
    .post(
      projectPath,
      async ({ readChange, caller, params }) => {
        const body = await readChange(ownProjectUpdate)
        const change = { ...toAllowanceChange(body), name: body.name ?? undefined }
        return renderOne(projects, projects.change(caller, params.project_id, change))
      },
      { detail: updateDetail },
    )
    .post(
      `${projectPath}/archive`,
      ({ caller, params }) => renderOne(projects, projects.archive(caller, params.project_id)),
      { detail: archiveDetail },
    )
}

async function listPage(projects: OwnProjects, manager: Manager, request: Request): Promise<Response> {
  const { include_archived, ...query } = listQuery.read(request)
  const page = await projects.page(manager, { ...toPage(query), deleted: include_archived === 'true' })
  return pageReply(page, 'a project of the organization', projects.render)
}
