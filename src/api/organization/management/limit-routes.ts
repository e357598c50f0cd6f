import { Elysia } from 'elysia'
import { renderSlice } from '../../../http/paging.ts'
import { withBudget } from '../../../http/render-accounts.ts'
import { jsonText } from '../../../http/reply.ts'
import { adminObjectNotFound, noOrganization } from '../../../lib/errors/http-errors.ts'
import type { LimitValues } from '../../../storage/ports/limits.ts'
import type { Managed } from '../../../storage/ports/storage.ts'
import type { OwnProjects } from './own-projects.ts'
import { describeManagement, type Manager, type PermissionGuard } from './permission.ts'
import {
  DeletedLimit,
  modelPermissionsUpdate,
  OrganizationSpendLimit,
  ProjectModelPermissions,
  ProjectRateLimit,
  ProjectRateLimitList,
  ProjectSpendLimit,
  rateLimitId,
  rateLimitUpdate,
  renderModelPermissions,
  renderRateLimit,
  renderSpendLimit,
  spendLimitUpdate,
  toBudget,
  toModels,
  toRateLimits,
} from './project-limits.ts'
import { projectParameter, projectPath } from './project-routes.ts'

const rateLimitsPath = `${projectPath}/rate_limits` as const
const modelsPath = `${projectPath}/model_permissions` as const

const listDetail = describeManagement({
  id: 'listProjectRateLimits',
  summary: 'List the rate limits of a project',
  description: 'Lists the one rate limit of a project, which is for all models together.',
  path: projectParameter,
  reply: ProjectRateLimitList,
})
const updateDetail = describeManagement({
  id: 'updateProjectRateLimit',
  summary: 'Change the rate limit of a project',
  description: 'Changes the rate limit of a project, which is for all models together.',
  path: { ...projectParameter, rate_limit_id: `The ID of the rate limit: \`${rateLimitId}\`.` },
  body: rateLimitUpdate,
  examples: { limits: { summary: 'Other limits', value: { max_requests_per_1_minute: 500 } } },
  reply: ProjectRateLimit,
})
const models = { path: projectParameter, reply: ProjectModelPermissions } as const
const modelsDetail = describeManagement({
  ...models,
  id: 'getProjectModelPermissions',
  summary: 'Get the models that a project may use',
  description: 'Returns the allowed models of a project, or an empty list of denied ones.',
})
const changeModelsDetail = describeManagement({
  ...models,
  id: 'updateProjectModelPermissions',
  summary: 'Change the models that a project may use',
  description: 'Replaces the allowed models of a project.',
  body: modelPermissionsUpdate,
  examples: {
    models: { summary: 'Models of one author', value: { mode: 'allow_list', model_ids: ['anthropic/*'] } },
  },
})
const allowAllDetail = describeManagement({
  ...models,
  id: 'deleteProjectModelPermissions',
  summary: 'Allow all models to a project',
  description: 'Removes the list of allowed models, so that the project may use all of its organization.',
  reply: DeletedLimit,
})

const spendLimitPath = `${projectPath}/spend_limit` as const
const spendLimit = { path: projectParameter, reply: ProjectSpendLimit } as const

const spendDetail = describeManagement({
  ...spendLimit,
  id: 'getProjectSpendLimit',
  summary: 'Get the spend limit of a project',
  description: 'Returns the budget of a project.',
})
const changeSpendDetail = describeManagement({
  ...spendLimit,
  id: 'updateProjectSpendLimit',
  summary: 'Set the spend limit of a project',
  description: 'Creates or replaces the budget of a project.',
  body: spendLimitUpdate,
  examples: {
    month: {
      summary: 'Two hundred dollars a month',
      value: { currency: 'USD', interval: 'month', threshold_amount: 20_000 },
    },
  },
})
const removeSpendDetail = describeManagement({
  ...spendLimit,
  id: 'deleteProjectSpendLimit',
  summary: 'Remove the spend limit of a project',
  description: 'Removes the budget of a project; those of its organization and its keys stay.',
  reply: DeletedLimit,
})
const organizationSpendDetail = describeManagement({
  errors: [404],
  id: 'getOrganizationSpendLimit',
  summary: 'Get the spend limit of the organization',
  description: 'Returns the budget of the organization, which only the operator of the gateway can change.',
  reply: OrganizationSpendLimit,
})

/** The dependencies of the routes of limits; `limits` are those of the settings. */
type LimitDependencies = {
  readonly projects: OwnProjects
  readonly managed: Managed
  readonly limits: LimitValues
}

/** The rate limits, models and budgets of projects, as OpenAI's API has them, and the budget of the organization. */
export function limitRoutes(guard: PermissionGuard, { projects, managed, limits }: LimitDependencies) {
  return new Elysia({ name: 'project-limits' })
    .use(rateLimitRoutes(guard, projects, limits))
    .use(modelPermissionRoutes(guard, projects))
    .use(spendLimitRoutes(guard, projects, managed))
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
      async ({ readChange, caller, params }) => {
        const body = await readChange(rateLimitUpdate)
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
      async ({ readChange, caller, params }) => {
        const body = await readChange(modelPermissionsUpdate)
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

function spendLimitRoutes(guard: PermissionGuard, projects: OwnProjects, managed: Managed) {
  return new Elysia({ name: 'spend-limits' })
    .use(guard)
    .get('/v1/organization/spend_limit', ({ caller }) => ofOrganization(managed, caller), {
      detail: organizationSpendDetail,
    })
    .get(
      spendLimitPath,
      async ({ caller, params }) => {
        const project = await projects.find(caller, params.project_id)
        return renderSpendLimit('project', project.limits, await projects.budgetOf(project))
      },
      { detail: spendDetail },
    )
    .post(
      spendLimitPath,
      async ({ readChange, caller, params }) => {
        const body = await readChange(spendLimitUpdate)
        const project = await projects.change(caller, params.project_id, toBudget(body))
        return renderSpendLimit('project', project.limits, await projects.budgetOf(project))
      },
      { detail: changeSpendDetail },
    )
    .delete(
      spendLimitPath,
      async ({ caller, params }) => {
        const { limits } = await projects.find(caller, params.project_id)
        await projects.change(caller, params.project_id, { budget: null })
        return { object: 'project.spend_limit.deleted', deleted: limits.budget !== null }
      },
      { detail: removeSpendDetail },
    )
}

async function ofOrganization({ organizations, budgets }: Managed, { organization, keyId }: Manager) {
  const account = await organizations.find(organization.id)
  if (account === undefined) throw noOrganization(keyId)
  const { state } = await withBudget({ budgets }, account)
  return renderSpendLimit('organization', account.limits, state)
}
