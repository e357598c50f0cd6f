import { expect } from 'bun:test'

/** A change: the operation, its body, and the event and the changed fields of its entry. */
export type AuditedChange = {
  readonly operation: string
  readonly body?: object
  readonly event: string
  readonly changed: Readonly<Record<string, unknown>>
  /** Whether the same request once more changes nothing. */
  readonly repeats?: 'changes nothing' | 'is refused'
  /** Keeps the id of the new object under this name. */
  readonly creates?: string
}

/** They change nothing that is stored. */
export const unaudited = ['POST /admin/providers/{provider}/test', 'POST /admin/webhooks/{endpoint}/test']

const repeats = 'changes nothing'
const budget = { budget_usd: '5', budget_period: 'day' } as const

/** Every change of the operator, in an order in which each is possible. */
export const operatorChanges: readonly AuditedChange[] = [
  {
    operation: 'POST /admin/organizations',
    body: { name: 'globex', billing: 'prepaid', requests_per_minute: 600 },
    event: 'organization.created',
    changed: { name: 'globex', billing: 'prepaid', requests_per_minute: 600 },
    repeats: 'is refused',
    creates: 'organization',
  },
  {
    operation: 'PATCH /admin/organizations/{organization}',
    body: budget,
    event: 'organization.updated',
    changed: { budget_usd: '5.00', budget_period: 'day' },
    repeats,
  },
  {
    operation: 'POST /admin/organizations/{organization}',
    body: { enabled: false },
    event: 'organization.updated',
    changed: { enabled: false },
    repeats,
  },
  {
    operation: 'POST /admin/organizations/{organization}/credit',
    body: { amount: '12.50', note: 'Invoice 7' },
    event: 'organization.credited',
    changed: { balance_usd: '12.50', note: 'Invoice 7' },
  },
  {
    operation: 'POST /admin/organizations/{organization}/release_held',
    event: 'budget.released',
    changed: { held_usd: '0.00' },
    repeats,
  },
  {
    operation: 'POST /admin/projects',
    body: { organization: 'globex', name: 'search', ...budget },
    event: 'project.created',
    changed: { name: 'search', budget_usd: '5.00' },
    repeats: 'is refused',
    creates: 'project',
  },
  {
    operation: 'PATCH /admin/projects/{project}',
    body: { models: ['acme/*'] },
    event: 'project.updated',
    changed: { models: ['acme/*'] },
    repeats,
  },
  {
    operation: 'POST /admin/projects/{project}/release_held',
    event: 'budget.released',
    changed: { held_usd: '0.00' },
    repeats,
  },
  {
    operation: 'POST /admin/keys',
    body: { organization: 'globex', name: 'ci', permissions: ['admin'], ...budget },
    event: 'api_key.created',
    changed: { name: 'ci', permissions: ['admin'] },
    creates: 'key',
  },
  {
    operation: 'PATCH /admin/keys/{key}',
    body: { tags: ['nightly'], note: 'of ada' },
    event: 'api_key.updated',
    changed: { tags: ['nightly'], note: 'of ada' },
    repeats,
  },
  {
    operation: 'POST /admin/keys/{key}/release_held',
    event: 'budget.released',
    changed: { held_usd: '0.00' },
    repeats,
  },
  {
    operation: 'POST /admin/keys/{key}/rotate',
    body: { grace: '1h' },
    event: 'api_key.rotated',
    changed: { replaced_by: expect.any(String), expires_at: expect.any(String) },
    repeats: 'is refused',
  },
  {
    operation: 'POST /admin/keys/{key}/revoke',
    event: 'api_key.deleted',
    changed: { revoked_at: expect.any(String) },
    repeats,
  },
  {
    operation: 'DELETE /admin/projects/{project}',
    event: 'project.archived',
    changed: { deleted_at: expect.any(String) },
    repeats,
  },
  {
    operation: 'DELETE /admin/organizations/{organization}',
    event: 'organization.deleted',
    changed: {},
    repeats: 'is refused',
  },
]
