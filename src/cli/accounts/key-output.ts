import { renderKey, type WithBudget } from '../../http/render-accounts.ts'
import type { KeyRecord } from '../../storage/ports/accounts.ts'
import { type Column, detailText } from '../output.ts'
import { budgetCell, limitRows, modelsCell, timeCell } from './limits-output.ts'
import { isoTimeOrNull } from '../../lib/time.ts'

/** A key, what is left of its budget, and when it was last used. */
export type KeyDetails = WithBudget<KeyRecord> & { readonly lastUsedAt: number | undefined }

/** The columns of a list of keys at this time. */
export const keyColumns = (now: number): readonly Column<KeyDetails>[] => [
  { title: 'NAME', value: ({ account }) => account.name },
  { title: 'ID', value: ({ account }) => account.id },
  { title: 'OWNER', value: ({ account }) => ownerText(account) },
  { title: 'BUDGET LEFT', value: ({ account, state }) => budgetCell(account.limits, state) },
  { title: 'MODELS', value: ({ account }) => modelsCell(account.limits), dropOrder: 2 },
  { title: 'STATE', value: ({ account }) => keyState(account, now) },
  { title: 'CREATED', value: ({ account }) => timeCell(account.createdAt).slice(0, 10), dropOrder: 1 },
  { title: 'LAST USED', value: ({ lastUsedAt }) => usedCell(lastUsedAt), dropOrder: 4 },
  { title: 'EXPIRES', value: ({ account }) => expiryCell(account), dropOrder: 3 },
]

/** Formats all properties of a key, a line each. */
export function keyDetails({ account, state, lastUsedAt }: KeyDetails, now: number): string {
  return detailText([
    ['Name', account.name],
    ['ID', account.id],
    ['Last characters', account.last4],
    ['Organization', account.organization ?? deletedText],
    ['Project', account.project === null ? 'none' : `${account.project.name} (${account.project.id})`],
    ['State', keyState(account, now)],
    ...limitRows(account.limits, state, 'none'),
    ['Permissions', account.permissions.join(', ') || 'none'],
    ['Tags', account.tags.join(', ') || 'none'],
    ['Note', account.note ?? undefined],
    ['Content log', account.contentLog ? 'on: the content of requests is kept' : 'off'],
    ['Created', timeCell(account.createdAt)],
    ['Last used', usedCell(lastUsedAt)],
    ['Created by', account.parent ?? undefined],
    ['Expires', expiryCell(account)],
    ['Revoked', account.revokedAt === null ? undefined : timeCell(account.revokedAt)],
    ['Replaced by', account.replacedBy ?? undefined],
  ])
}

function usedCell(time: number | undefined): string {
  return time === undefined ? '-' : timeCell(time)
}

/** Returns a key as `weir keys` prints it with `--json`. */
export function keyJson(key: KeyDetails) {
  return { ...renderKey(key), last_used_at: isoTimeOrNull(key.lastUsedAt) }
}

const deletedText = '(deleted)'

function ownerText({ organization, project }: KeyRecord): string {
  return `${organization ?? deletedText}${project === null ? '' : `/${project.name}`}`
}

function expiryCell({ expiresAt }: KeyRecord): string {
  return expiresAt === null ? 'never' : timeCell(expiresAt)
}

/** Returns the state of a key: it accepts requests if it is active, or replaced and not expired yet. */
function keyState({ limits, revokedAt, expiresAt, replacedBy }: KeyRecord, now: number): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  if (!limits.enabled) return 'disabled'
  return replacedBy === null ? 'active' : 'replaced'
}
