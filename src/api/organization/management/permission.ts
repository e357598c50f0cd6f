import { Elysia } from 'elysia'
import type { KeyPermission } from '../../../domain/accounting/organization.ts'
import type { Caller } from '../../../http/authentication.ts'
import { type ChangeDependencies, createChanges } from '../../../http/changes.ts'
import type { Guard } from '../../../http/guard.ts'
import { permissionRequired } from '../../../lib/errors/http-errors.ts'
import type { LogFields } from '../../../lib/log.ts'

/** The check in front of the management of an organization. */
export type PermissionGuard = ReturnType<typeof createPermissionGuard>

/** Accepts only API keys with the permission, before the body is read. */
export function createPermissionGuard(guard: Guard, permission: KeyPermission) {
  return new Elysia({ name: `permission-${permission}` })
    .use(guard)
    .derive(function requirePermission({ caller }) {
      if (!caller.permissions.includes(permission)) throw permissionRequired(permission, caller.keyId)
      return {}
    })
    .as('scoped')
}

/** The key of the request, and its organization, the only one that it manages. */
export type Manager = Pick<Caller, 'organization' | 'keyId'>

/** Makes a change of the organization of a key, and logs it with the key. See `MakeChange`. */
export type ChangeOwn = <Result>(
  manager: Manager,
  action: string,
  work: () => Promise<Result>,
  fieldsOf: (result: Result) => LogFields,
) => Promise<Result>

export function createOwnChanges(parts: ChangeDependencies): ChangeOwn {
  const change = createChanges(parts, 'An API key changed its organization.')
  return ({ organization, keyId }, action, work, fieldsOf) =>
    change(action, work, (result) => ({ by: keyId, organization: organization.name, ...fieldsOf(result) }))
}

/** A time in milliseconds as the Unix seconds of OpenAI's objects. */
export function secondsOf(time: number): number {
  return Math.floor(time / 1000)
}

/** The same for a time that may be missing. */
export function secondsOrNull(time: number | null): number | null {
  return time === null ? null : secondsOf(time)
}
