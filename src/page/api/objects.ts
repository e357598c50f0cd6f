import type { Static, TObject, TSchema } from 'typebox'
import type {
  ApiKeyObject,
  CreatedApiKey,
  OrganizationObject,
  ProjectObject,
} from '../../http/objects/accounts.ts'
import type { AuditLogObject } from '../../http/objects/audit.ts'
import type { LedgerEntryObject } from '../../http/objects/ledger.ts'
import type { BudgetObject, limitProperties } from '../../http/objects/limits.ts'
import type { ModelObject } from '../../http/objects/model.ts'
import type { OwnOrganization as OwnOrganizationObject } from '../../http/objects/own-organization.ts'
import type { ProviderObject } from '../../http/objects/provider.ts'
import type { RequestContent as RequestContentObject, RequestObject } from '../../http/objects/request.ts'
import type { WebhookDeliveryObject, WebhookEndpointObject } from '../../http/objects/webhook.ts'

// The objects of the API as its documentation describes them. Only types are imported: no schema is part of the page.

/** An object of the API, which the page never changes. */
type Returned<Schema extends TSchema> = DeepReadonly<Static<Schema>>

type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
    : Value

export type Organization = Returned<typeof OrganizationObject>
export type Project = Returned<typeof ProjectObject>
export type ApiKey = Returned<typeof ApiKeyObject>
/** A new key with its secret, which only the reply to its creation has. */
export type NewApiKey = Returned<typeof CreatedApiKey>
/** The limits of an organization, a project or a key. */
export type Limits = Returned<TObject<ReturnType<typeof limitProperties>>>
/** What is left of a budget in its period. */
export type Budget = Returned<typeof BudgetObject>
export type BudgetPeriod = Limits['budget_period']
/** The organization of the key of the page. */
export type OwnOrganization = Returned<typeof OwnOrganizationObject>
export type LedgerEntry = Returned<typeof LedgerEntryObject>
export type AuditEntry = Returned<typeof AuditLogObject>
/** A request that has finished. */
export type FinishedRequest = Returned<typeof RequestObject>
export type RequestContent = Returned<typeof RequestContentObject>
/** A model as `GET /v1/models` lists it. */
export type Model = Returned<typeof ModelObject>
export type Provider = Returned<typeof ProviderObject>
export type WebhookEndpoint = Returned<typeof WebhookEndpointObject>
export type WebhookDelivery = Returned<typeof WebhookDeliveryObject>
