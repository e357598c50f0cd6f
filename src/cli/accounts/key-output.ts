import { renderKey, type WithBudget } from '../../http/render-accounts.ts'
import type { KeyRecord } from '../../storage/ports/accounts.ts'
import { type Column, detailText } from '../output.ts'
import { budgetCell, limitRows, modelsCell, timeCell } from './limits-output.ts'
import { isoTimeOrNull } from '../../lib/time.ts'
import type { KeyState } from './key-state.ts'

/** A key, what is left of its budget, its state, and when it was last used. */
export type KeyDetails = WithBudget<KeyRecord> & {
  readonly validity: KeyState
  readonly lastUsedAt: number | undefined
}

/** The columns of a list of keys. */
export const keyColumns: readonly Column<KeyDetails>[] = [
  { title: 'NAME', value: ({ account }) => account.name },
  { title: 'ID', value: ({ account }) => account.id },
  { title: 'OWNER', value: ({ account }) => ownerText(account) },
  { title: 'BUDGET LEFT', value: ({ account, state }) => budgetCell(account.limits, state) },
  { title: 'MODELS', value: ({ account }) => modelsCell(account.limits), dropOrder: 2 },
  { title: 'STATE', value: ({ validity }) => validity.state },
  { title: 'CREATED', value: ({ account }) => timeCell(account.createdAt).slice(0, 10), dropOrder: 1 },
  { title: 'LAST USED', value: ({ lastUsedAt }) => usedCell(lastUsedAt), dropOrder: 4 },
  { title: 'EXPIRES', value: ({ account }) => expiryCell(account), dropOrder: 3 },
]

/** Formats all properties of a key, a line each. */
export function keyDetails({ account, state, validity, lastUsedAt }: KeyDetails): string {
  return detailText([
    ['Name', account.name],
    ['ID', account.id],
    ['Last characters', account.last4],
    ['Organization', account.organization ?? deletedText],
    ['Project', account.project === null ? 'none' : `${account.project.name} (${account.project.id})`],
    ['State', validity.state],
    ['  reason', validity.reason],
    ...limitRows(account.limits, state, 'none', account.parent),
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
