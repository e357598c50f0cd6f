import type { WithBudget } from '../../../http/render-accounts.ts'
import { renderLimits } from '../../../http/render-limits.ts'
import type { KeyRecord, NewKey } from '../../../storage/ports/accounts.ts'
import { redacted } from './own-keys.ts'
import { secondsOf, secondsOrNull } from './permission.ts'

/** Renders a key of a project as OpenAI's API has it, with Weir's limits. `now` is milliseconds since 1970. */
export function renderProjectKey({ account, state }: WithBudget<KeyRecord>, now: number) {
  const { id, name, createdAt, expiresAt, limits } = account
  const isActive = limits.enabled && (expiresAt === null || expiresAt > now)
  const owner = { id, name, created_at: secondsOf(createdAt), role: 'member' }
  return {
    object: 'organization.project.api_key',
    id,
    name,
    created_at: secondsOf(createdAt),
    expires_at: secondsOrNull(expiresAt),
    last_used_at: null,
    redacted_value: redacted(account),
    content_log: account.contentLog,
    owner: { type: 'service_account', service_account: owner },
    owner_project_access: isActive ? 'active' : 'inactive',
    ...renderLimits(limits, state),
  }
}

/** Renders a key as a service account: OpenAI's API creates the keys of programs in this way. */
export function renderServiceAccount({ id, name, createdAt }: KeyRecord) {
  return {
    object: 'organization.project.service_account',
    id,
    name,
    role: 'member',
    created_at: secondsOf(createdAt),
  }
}

/** Renders a new service account with its key, which is shown only once. */
export function renderNewServiceAccount({ record, key }: NewKey) {
  const { id, name, createdAt, expiresAt } = record
  return {
    ...renderServiceAccount(record),
    api_key: {
      object: 'organization.project.service_account.api_key',
      id,
      name,
      value: key.reveal(),
      created_at: secondsOf(createdAt),
      expires_at: secondsOrNull(expiresAt),
    },
  }
}
