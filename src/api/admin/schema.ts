import { Type } from 'typebox'
import { billingModes } from '../../domain/accounting/organization.ts'
import { changeBody, closedBody, limitFields, limitProperties } from '../../http/limits.ts'
import { listSchema } from '../../http/paging.ts'
import { nullish, objectType, stringEnum, storableText, text } from '../../http/schema.ts'

const defaultLimit = 'Null for the limit of the settings.'

const billingAndLimits = {
  billing: Type.Optional(
    stringEnum(billingModes, {
      description:
        'How requests are paid: `unmetered` records them, `prepaid` pays them from the balance, `none` rejects them.',
    }),
  ),
  ...limitFields(defaultLimit),
}

/** The body of a new organization. */
export const newOrganization = closedBody('NewOrganization', {
  name: text('A unique name: 1 to 64 letters, digits, spaces, dots, dashes or underscores.'),
  ...billingAndLimits,
})

/** The body of a change of an organization; absent fields stay. */
export const organizationUpdate = changeBody('OrganizationUpdate', billingAndLimits)

/** The body of a credit. */
export const newCredit = closedBody('NewCredit', {
  amount: text(
    'The USD to add to the balance, such as `12.50`, with at most nine decimals. A negative amount subtracts.',
  ),
  note: nullish(storableText({ maxLength: 1000 }), {
    description: 'A note about the credit, such as an invoice number. At most 1000 characters.',
  }),
})

/** An organization with its balance. */
export const OrganizationObject = Type.Object(
  {
    object: objectType('organization'),
    id: text('The ID.'),
    name: text('The name.'),
    billing: stringEnum(billingModes, { description: 'How requests are paid.' }),
    balance_usd: text('The balance in USD, as an exact decimal number.'),
    reserved_usd: text('The part of the balance that open requests have reserved.'),
    ...limitProperties(defaultLimit),
    created_at: text('When it was created, in ISO 8601.'),
  },
  { title: 'Organization' },
)
export const OrganizationList = listSchema(OrganizationObject, 'OrganizationList')

/** The confirmation that an organization is deleted. */
export const DeletedOrganization = Type.Object(
  { id: Type.String(), object: Type.Literal('organization.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedOrganization' },
)
