import { Elysia } from 'elysia'
import { invalidCursor, pageParameters, renderSlice, searchParameter, toPage } from '../../http/paging.ts'
import { jsonText } from '../../http/reply.ts'
import { describe } from '../../http/describe.ts'
import { toAllowanceChange } from '../../http/limits.ts'
import { defineQuery } from '../../http/query.ts'
import type { OrganizationAccount, OrganizationChange } from '../../storage/ports/accounts.ts'
import type { Actor } from '../../storage/ports/audit.ts'
import { adminErrors, type AdminGuard, changeErrors, type ChangeReader } from './admin-guard.ts'
import { heldDescription } from './held-budgets.ts'
import { nearEndParameter, nearEndTime } from './near-end.ts'
import type { OrganizationService } from './organizations.ts'
import {
  DeletedOrganization,
  newCredit,
  newOrganization,
  OrganizationList,
  OrganizationObject,
  organizationUpdate,
} from './schema.ts'

const path = '/admin/organizations'
const itemPath = `${path}/:organization` as const
const pathParameters = { organization: 'The ID or the name of an organization.' }
const listQuery = defineQuery({
  ...pageParameters('organization', 'asc'),
  near_end: nearEndParameter(
    'organizations that have used 80 % of their budget, or have at most 1 USD of a prepaid balance',
  ),
  search: searchParameter('organizations'),
})
const described = { tag: 'Admin', reply: OrganizationObject } as const

const listDetail = describe({
  ...described,
  id: 'listOrganizations',
  summary: 'List organizations',
  description: 'Lists all organizations, or those that a search finds, with their balances and limits.',
  query: listQuery.parameters,
  reply: OrganizationList,
  errors: [400, ...adminErrors],
})
const createDetail = describe({
  ...described,
  id: 'createOrganization',
  summary: 'Create an organization',
  description: 'Creates an organization, with unmetered billing and the limits of the settings by default.',
  body: newOrganization,
  examples: {
    prepaid: {
      summary: 'A prepaid organization',
      value: { name: 'acme', billing: 'prepaid', requests_per_minute: 600 },
    },
  },
  errors: changeErrors,
})
const findDetail = describe({
  ...described,
  id: 'getOrganization',
  summary: 'Get an organization',
  description: 'Returns an organization with its balance and limits.',
  path: pathParameters,
  errors: [404, ...adminErrors],
})
const change = {
  ...described,
  description: 'Changes the billing and the limits of an organization. Absent fields stay as they are.',
  path: pathParameters,
  body: organizationUpdate,
  examples: {
    limits: { summary: 'Other limits', value: { requests_per_minute: 600, tokens_per_minute: null } },
    budget: { summary: 'A monthly ceiling', value: { budget_usd: '500', budget_period: 'month' } },
  },
  errors: [404, ...changeErrors],
} as const
const updateDetail = describe({ ...change, id: 'updateOrganization', summary: 'Change an organization' })
const postDetail = describe({
  ...change,
  id: 'postOrganization',
  summary: 'Change an organization with POST',
})
const removeDetail = describe({
  ...described,
  id: 'deleteOrganization',
  summary: 'Delete an organization',
  description:
    'Deletes an organization. Requests with its API keys are rejected at once; its data is deleted in the background.',
  path: pathParameters,
  reply: DeletedOrganization,
  errors: [404, ...adminErrors],
})
const creditDetail = describe({
  ...described,
  id: 'creditOrganization',
  summary: 'Credit an organization',
  description: 'Adds to the balance of an organization, or subtracts from what is available of it.',
  path: pathParameters,
  body: newCredit,
  examples: { credit: { summary: 'A credit', value: { amount: '12.50', note: 'Invoice 7' } } },
  errors: [404, ...changeErrors],
})

const releaseDetail = describe({
  ...described,
  id: 'releaseOrganizationBudget',
  summary: 'Release what is held of the budget of an organization',
  description: heldDescription,
  path: pathParameters,
  errors: [400, 404, ...adminErrors],
})

/** The routes of organizations. */
export function organizationAdminRoutes(guard: AdminGuard, service: OrganizationService) {
  return new Elysia({ name: 'admin-organizations' })
    .use(guard)
    .get(path, ({ request }) => listPage(service, request), {
      detail: listDetail,
    })
    .post(
      path,
      async ({ readChange, request, actor }) => {
        const { name, ...settings } = await readChange(request, newOrganization)
        return toObject(service, service.create(actor, name, toChange(settings)))
      },
      { detail: createDetail },
    )
    .use(itemRoutes(guard, service))
    .use(changeRoutes(guard, service))
}

function itemRoutes(guard: AdminGuard, service: OrganizationService) {
  return new Elysia({ name: 'admin-organization' })
    .use(guard)
    .get(itemPath, ({ params }) => toObject(service, service.find(params.organization)), {
      detail: findDetail,
    })
    .delete(
      itemPath,
      async ({ params, actor }) => {
        const { id } = await service.delete(actor, params.organization)
        return { id, object: 'organization.deleted', deleted: true }
      },
      { detail: removeDetail },
    )
}

function changeRoutes(guard: AdminGuard, service: OrganizationService) {
  const update = async ({ readChange, request, params, actor }: ChangeContext) => {
    const settings = toChange(await readChange(request, organizationUpdate))
    return toObject(service, service.change(actor, params.organization, settings))
  }
  return new Elysia({ name: 'admin-organization-changes' })
    .use(guard)
    .patch(itemPath, update, { detail: updateDetail })
    .post(itemPath, update, { detail: postDetail })
    .post(
      `${itemPath}/credit`,
      async ({ readChange, request, params, actor }) => {
        const { amount, note } = await readChange(request, newCredit)
        return toObject(service, service.credit(actor, params.organization, amount, note ?? undefined))
      },
      { detail: creditDetail },
    )
    .post(
      `${itemPath}/release_held`,
      ({ params, actor }) => toObject(service, service.releaseHeld(actor, params.organization)),
      { detail: releaseDetail },
    )
}

type ChangeContext = {
  readonly readChange: ChangeReader
  readonly request: Request
  readonly actor: Actor
  readonly params: { readonly organization: string }
}

async function toObject(service: OrganizationService, account: Promise<OrganizationAccount>) {
  const [rendered] = await service.render([await account])
  return rendered
}

async function listPage(service: OrganizationService, request: Request): Promise<Response> {
  const { search, near_end, ...query } = listQuery.read(request)
  const page = await service.page({ ...toPage(query), search, nearEndAt: nearEndTime(near_end) })
  if (page === undefined) throw invalidCursor('an organization')
  return jsonText(renderSlice({ ...page, items: await service.render(page.items) }))
}

type Settings = ReturnType<typeof organizationUpdate.read>

function toChange({ billing, ...limits }: Settings): OrganizationChange {
  return { billing, ...toAllowanceChange(limits) }
}
