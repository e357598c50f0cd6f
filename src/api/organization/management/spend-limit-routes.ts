import { Elysia } from 'elysia'
import { bodyErrors, describe, guardErrors } from '../../../http/describe.ts'
import { withBudgets } from '../../../http/render-accounts.ts'
import { noOrganization } from '../../../lib/errors/http-errors.ts'
import type { Managed } from '../../../storage/ports/storage.ts'
import type { OwnProjects } from './own-projects.ts'
import type { Manager, PermissionGuard } from './permission.ts'
import {
  DeletedLimit,
  OrganizationSpendLimit,
  ProjectSpendLimit,
  spendLimitUpdate,
} from './project-limit-schema.ts'
import { renderSpendLimit, toBudget } from './project-limits.ts'
import { projectParameter, projectPath } from './project-routes.ts'

const path = `${projectPath}/spend_limit` as const
const permission = 'Requires an API key with the permission `admin`.'
const described = { tag: 'Organization', path: projectParameter, reply: ProjectSpendLimit } as const

const findDetail = describe({
  ...described,
  id: 'getProjectSpendLimit',
  summary: 'Get the spend limit of a project',
  description: `Returns the budget of a project. ${permission}`,
  errors: [404, ...guardErrors],
})
const updateDetail = describe({
  ...described,
  id: 'updateProjectSpendLimit',
  summary: 'Set the spend limit of a project',
  description: `Creates or replaces the budget of a project. ${permission}`,
  body: spendLimitUpdate,
  examples: {
    month: {
      summary: 'Two hundred dollars a month',
      value: { currency: 'USD', interval: 'month', threshold_amount: 20_000 },
    },
  },
  errors: [404, ...bodyErrors],
})
const removeDetail = describe({
  ...described,
  id: 'deleteProjectSpendLimit',
  summary: 'Remove the spend limit of a project',
  description: `Removes the budget of a project; those of its organization and its keys stay. ${permission}`,
  reply: DeletedLimit,
  errors: [404, ...guardErrors],
})
const organizationDetail = describe({
  tag: 'Organization',
  id: 'getOrganizationSpendLimit',
  summary: 'Get the spend limit of the organization',
  description: `Returns the budget of the organization, which only the operator of the gateway can change. ${permission}`,
  reply: OrganizationSpendLimit,
  errors: [404, ...guardErrors],
})

/** The budgets of projects and of the organization, as OpenAI's API has them. */
export function spendLimitRoutes(guard: PermissionGuard, projects: OwnProjects, managed: Managed) {
  return new Elysia({ name: 'spend-limits' })
    .use(guard)
    .get('/v1/organization/spend_limit', ({ caller }) => ofOrganization(managed, caller), {
      detail: organizationDetail,
    })
    .get(
      path,
      async ({ caller, params }) => {
        const project = await projects.find(caller, params.project_id)
        return renderSpendLimit('project', project.limits, await projects.budgetOf(project))
      },
      { detail: findDetail },
    )
    .post(
      path,
      async ({ readBody, request, caller, admission, params }) => {
        const body = await readBody(request, spendLimitUpdate, { admission, caller }, { isFree: true })
        const project = await projects.change(caller, params.project_id, toBudget(body))
        return renderSpendLimit('project', project.limits, await projects.budgetOf(project))
      },
      { detail: updateDetail },
    )
    .delete(
      path,
      async ({ caller, params }) => {
        const { limits } = await projects.find(caller, params.project_id)
        await projects.change(caller, params.project_id, { budget: null })
        return { object: 'project.spend_limit.deleted', deleted: limits.budget !== null }
      },
      { detail: removeDetail },
    )
}

async function ofOrganization({ organizations, budgets }: Managed, { organization, keyId }: Manager) {
  const account = await organizations.find(organization.id)
  if (account === undefined) throw noOrganization(keyId)
  const [found] = await withBudgets(budgets, [account], Date.now())
  return renderSpendLimit('organization', account.limits, found?.state)
}
