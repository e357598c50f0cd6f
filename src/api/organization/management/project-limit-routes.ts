import { Elysia } from 'elysia'
import { bodyErrors, describe, guardErrors } from '../../../http/describe.ts'
import { renderSlice } from '../../../http/paging.ts'
import { jsonText } from '../../../http/reply.ts'
import { adminObjectNotFound } from '../../../lib/errors/http-errors.ts'
import type { LimitValues } from '../../../storage/ports/limits.ts'
import type { OwnProjects } from './own-projects.ts'
import type { PermissionGuard } from './permission.ts'
import {
  DeletedLimit,
  ProjectModelPermissions,
  ProjectRateLimit,
  ProjectRateLimitList,
  modelPermissionsUpdate,
  rateLimitUpdate,
} from './project-limit-schema.ts'
import {
  rateLimitId,
  renderModelPermissions,
  renderRateLimit,
  toModels,
  toRateLimits,
} from './project-limits.ts'
import { projectParameter, projectPath } from './project-routes.ts'

const rateLimitsPath = `${projectPath}/rate_limits` as const
const modelsPath = `${projectPath}/model_permissions` as const
const permission = 'Requires an API key with the permission `admin`.'

const listDetail = describe({
  tag: 'Organization',
  id: 'listProjectRateLimits',
  summary: 'List the rate limits of a project',
  description: `Lists the one rate limit of a project, which is for all models together. ${permission}`,
  path: projectParameter,
  reply: ProjectRateLimitList,
  errors: [404, ...guardErrors],
})
const updateDetail = describe({
  tag: 'Organization',
  id: 'updateProjectRateLimit',
  summary: 'Change the rate limit of a project',
  description: `Changes the rate limit of a project, which is for all models together. ${permission}`,
  path: { ...projectParameter, rate_limit_id: `The ID of the rate limit: \`${rateLimitId}\`.` },
  body: rateLimitUpdate,
  examples: { limits: { summary: 'Other limits', value: { max_requests_per_1_minute: 500 } } },
  reply: ProjectRateLimit,
  errors: [404, ...bodyErrors],
})
const models = { tag: 'Organization', path: projectParameter, reply: ProjectModelPermissions } as const
const modelsDetail = describe({
  ...models,
  id: 'getProjectModelPermissions',
  summary: 'Get the models that a project may use',
  description: `Returns the allowed models of a project, or an empty list of denied ones. ${permission}`,
  errors: [404, ...guardErrors],
})
const changeModelsDetail = describe({
  ...models,
  id: 'updateProjectModelPermissions',
  summary: 'Change the models that a project may use',
  description: `Replaces the allowed models of a project. ${permission}`,
  body: modelPermissionsUpdate,
  examples: {
    models: { summary: 'Models of one author', value: { mode: 'allow_list', model_ids: ['anthropic/*'] } },
  },
  errors: [404, ...bodyErrors],
})
const allowAllDetail = describe({
  ...models,
  id: 'deleteProjectModelPermissions',
  summary: 'Allow all models to a project',
  description: `Removes the list of allowed models, so that the project may use all of its organization. ${permission}`,
  reply: DeletedLimit,
  errors: [404, ...guardErrors],
})

/** The rate limits of a project and the models that it may use, as OpenAI's API has them. */
export function projectLimitRoutes(guard: PermissionGuard, projects: OwnProjects, limits: LimitValues) {
  return new Elysia({ name: 'project-limits' })
    .use(rateLimitRoutes(guard, projects, limits))
    .use(modelPermissionRoutes(guard, projects))
}

function rateLimitRoutes(guard: PermissionGuard, projects: OwnProjects, limits: LimitValues) {
  return new Elysia({ name: 'project-rate-limits' })
    .use(guard)
    .get(
      rateLimitsPath,
      async ({ caller, params }) => {
        const project = await projects.find(caller, params.project_id)
        const only = renderRateLimit(project.limits, caller.organization.limits, limits)
        return jsonText(renderSlice({ items: [only], hasMore: false }))
      },
      { detail: listDetail },
    )
    .post(
      `${rateLimitsPath}/:rate_limit_id`,
      async ({ readBody, request, caller, admission, params }) => {
        const body = await readBody(request, rateLimitUpdate, { admission, caller }, { isFree: true })
        await projects.find(caller, params.project_id)
        if (params.rate_limit_id !== rateLimitId)
          throw adminObjectNotFound(`A project has only the rate limit '${rateLimitId}', for all models.`)
        const project = await projects.change(caller, params.project_id, toRateLimits(body))
        return renderRateLimit(project.limits, caller.organization.limits, limits)
      },
      { detail: updateDetail },
    )
}

function modelPermissionRoutes(guard: PermissionGuard, projects: OwnProjects) {
  return new Elysia({ name: 'project-model-permissions' })
    .use(guard)
    .get(
      modelsPath,
      async ({ caller, params }) =>
        renderModelPermissions((await projects.find(caller, params.project_id)).limits),
      { detail: modelsDetail },
    )
    .post(
      modelsPath,
      async ({ readBody, request, caller, admission, params }) => {
        const body = await readBody(request, modelPermissionsUpdate, { admission, caller }, { isFree: true })
        const project = await projects.change(caller, params.project_id, toModels(body))
        return renderModelPermissions(project.limits)
      },
      { detail: changeModelsDetail },
    )
    .delete(
      modelsPath,
      async ({ caller, params }) => {
        const { limits } = await projects.find(caller, params.project_id)
        await projects.change(caller, params.project_id, { models: null })
        return { object: 'project.model_permissions.deleted', deleted: limits.models !== null }
      },
      { detail: allowAllDetail },
    )
}
