import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { billingModes } from '../../domain/accounting/organization.ts'
import { changeBody, closedBody, limitFields, toAllowanceChange } from '../../http/limits.ts'
import { listSchema, pageParameters, pageReply, searchParameter, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { OrganizationObject } from '../../http/objects/accounts.ts'
import { noOrganizationLimit } from '../../http/objects/limits.ts'
import { renderOne } from '../../http/render-accounts.ts'
import { nullish, storableText, stringEnum, text } from '../../http/schema.ts'
import type { Validator } from '../../lib/validation/validator.ts'
import type { OrganizationChange } from '../../storage/ports/accounts.ts'
import type { Actor } from '../../storage/ports/audit.ts'
import { heldDescription, nearEndParameter, nearEndTime } from './accounts.ts'
import { type AdminGuard, describeAdmin } from './admin-guard.ts'
import type { OrganizationService } from './organizations.ts'

const path = '/admin/organizations'
const itemPath = `${path}/:organization` as const
const listQuery = defineQuery({
  ...pageParameters('organization', 'asc'),
  near_end: nearEndParameter(
    'organizations that have used 80 % of their budget, or have at most 1 USD of a prepaid balance',
  ),
  search: searchParameter('organizations'),
})

const billingAndLimits = {
  billing: Type.Optional(
    stringEnum(billingModes, {
      description:
        'How requests are paid: `unmetered` records them, `prepaid` pays them from the balance, `none` rejects them.',
    }),
  ),
  ...limitFields(noOrganizationLimit),
}

/** The body of a new organization. */
const newOrganization = closedBody('NewOrganization', {
  name: text('A unique name: 1 to 64 letters, digits, spaces, dots, dashes or underscores.'),
  ...billingAndLimits,
})

/** The body of a change of an organization; absent fields stay. */
const organizationUpdate = changeBody('OrganizationUpdate', billingAndLimits)

/** The body of a credit. */
const newCredit = closedBody('NewCredit', {
  amount: text(
    'The USD to add to the balance, such as `12.50`, with at most nine decimals. A negative amount subtracts.',
  ),
  note: nullish(storableText({ maxLength: 1000 }), {
    description: 'A note about the credit, such as an invoice number. At most 1000 characters.',
  }),
})

const OrganizationList = listSchema(OrganizationObject, 'OrganizationList')

/** The confirmation that an organization is deleted. */
const DeletedOrganization = Type.Object(
  { id: Type.String(), object: Type.Literal('organization.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedOrganization' },
)

const reply = OrganizationObject
const described = { reply, path: { organization: 'The ID or the name of an organization.' } } as const

const listDetail = describeAdmin({
  id: 'listOrganizations',
  summary: 'List organizations',
  description: 'Lists all organizations, or those that a search finds, with their balances and limits.',
  query: listQuery.parameters,
  reply: OrganizationList,
})
const createDetail = describeAdmin({
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
  reply,
})
const findDetail = describeAdmin({
  ...described,
  id: 'getOrganization',
  summary: 'Get an organization',
  description: 'Returns an organization with its balance and limits.',
})
const change = {
  ...described,
  description: 'Changes the billing and the limits of an organization. Absent fields stay as they are.',
  body: organizationUpdate,
  examples: {
    limits: { summary: 'Other limits', value: { requests_per_minute: 600, tokens_per_minute: null } },
    budget: { summary: 'A monthly ceiling', value: { budget_usd: '500', budget_period: 'month' } },
  },
}
const updateDetail = describeAdmin({ ...change, id: 'updateOrganization', summary: 'Change an organization' })
const postDetail = describeAdmin({
  ...change,
  id: 'postOrganization',
  summary: 'Change an organization with POST',
})
const removeDetail = describeAdmin({
  ...described,
  id: 'deleteOrganization',
  summary: 'Delete an organization',
  description:
    'Deletes an organization. Requests with its API keys are rejected at once; its data is deleted in the background.',
  reply: DeletedOrganization,
})
const creditDetail = describeAdmin({
  ...described,
  id: 'creditOrganization',
  summary: 'Credit an organization',
  description: 'Adds to the balance of an organization, or subtracts from what is available of it.',
  body: newCredit,
  examples: { credit: { summary: 'A credit', value: { amount: '12.50', note: 'Invoice 7' } } },
})
const releaseDetail = describeAdmin({
  ...described,
  ...heldDescription('an organization'),
  id: 'releaseOrganizationBudget',
})

/** The routes of organizations. */
export function organizationAdminRoutes(guard: AdminGuard, service: OrganizationService) {
  return new Elysia({ name: 'admin-organizations' })
    .use(guard)
    .get(path, ({ request }) => listPage(service, request), { detail: listDetail })
    .post(
      path,
      async ({ readChange, actor }) => {
        const { name, ...settings } = await readChange(newOrganization)
        return renderOne(service, service.create(actor, name, toChange(settings)))
      },
      { detail: createDetail },
    )
    .use(itemRoutes(guard, service))
    .use(changeRoutes(guard, service))
}

function itemRoutes(guard: AdminGuard, service: OrganizationService) {
  return new Elysia({ name: 'admin-organization' })
    .use(guard)
    .get(itemPath, ({ params }) => renderOne(service, service.find(params.organization)), {
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
  const update = async ({ readChange, params, actor }: ChangeContext) => {
    const settings = toChange(await readChange(organizationUpdate))
    return renderOne(service, service.change(actor, params.organization, settings))
  }
  return new Elysia({ name: 'admin-organization-changes' })
    .use(guard)
    .patch(itemPath, update, { detail: updateDetail })
    .post(itemPath, update, { detail: postDetail })
    .post(
      `${itemPath}/credit`,
      async ({ readChange, params, actor }) => {
        const { amount, note } = await readChange(newCredit)
        const credited = service.credit(actor, params.organization, amount, note ?? undefined)
        return renderOne(service, credited)
      },
      { detail: creditDetail },
    )
    .post(
      `${itemPath}/release_held`,
      ({ params, actor }) => renderOne(service, service.releaseHeld(actor, params.organization)),
      { detail: releaseDetail },
    )
}

type ChangeContext = {
  readonly readChange: <Body>(body: Validator<Body>) => Promise<Body>
  readonly actor: Actor
  readonly params: { readonly organization: string }
}

async function listPage(service: OrganizationService, request: Request): Promise<Response> {
  const { search, near_end, ...query } = listQuery.read(request)
  const page = await service.page({ ...toPage(query), search, nearEndAt: nearEndTime(near_end) })
  return pageReply(page, 'an organization', service.render)
}

function toChange({ billing, ...limits }: ReturnType<typeof organizationUpdate.read>): OrganizationChange {
  return { billing, ...toAllowanceChange(limits) }
}
