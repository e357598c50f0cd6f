import { Elysia } from 'elysia'
import type { KeyPermission } from '../../../domain/accounting/organization.ts'
import type { Caller } from '../../../http/authentication.ts'
import { type ChangeDependencies, createChanges } from '../../../http/changes.ts'
import { describe, errorsOf, type GuardedDescription } from '../../../http/describe.ts'
import type { Guard } from '../../../http/guard.ts'
import { type AddressOf, actorOf } from '../../../http/actor.ts'
import { permissionRequired } from '../../../lib/errors/http-errors.ts'
import type { LogFields } from '../../../lib/log.ts'
import type { Validator } from '../../../lib/validation/validator.ts'
import type { Actor } from '../../../storage/ports/audit.ts'
import type { ManagedStores } from '../../../storage/ports/storage.ts'

/** The check in front of the management of an organization. */
export type PermissionGuard = ReturnType<typeof createPermissionGuard>

/**
 * Accepts only API keys with the permission, before the body is read. Routes have the key as their `caller`, and read the
 * body of a change with `readChange`.
 */
export function createPermissionGuard(guard: Guard, permission: KeyPermission, addressOf: AddressOf) {
  return new Elysia({ name: `permission-${permission}` })
    .use(guard)
    .derive(function requirePermission({ caller, request, admission, readBody }) {
      if (!caller.permissions.includes(permission)) throw permissionRequired(permission, caller.keyId)
      const key = { type: 'api_key', id: caller.keyId, name: caller.keyName } as const
      return {
        caller: { ...caller, actor: actorOf(key, request, addressOf) },
        readChange: <Body>(body: Validator<Body>) =>
          readBody(request, body, { admission, caller }, { isFree: true }),
      }
    })
    .as('scoped')
}

/** Describes a route behind the check of a permission. */
export function describeManagement(description: GuardedDescription, permission: KeyPermission = 'admin') {
  return describe({
    ...description,
    tag: 'Organization',
    description: `${description.description} Requires an API key with the permission \`${permission}\`.`,
    errors: errorsOf(description),
  })
}

/** The key of the request, and its organization, the only one that it manages. */
export type Manager = Pick<Caller, 'organization' | 'keyId'> & { readonly actor: Actor }

/** Makes a change of the organization of a key, and logs it with the key. See `MakeChange`. */
export type ChangeOwn = <Result>(
  manager: Manager,
  action: string,
  work: (stores: ManagedStores) => Promise<Result>,
  fieldsOf: (result: Result) => LogFields,
) => Promise<Result>

export function createOwnChanges(parts: ChangeDependencies): ChangeOwn {
  const change = createChanges(parts, 'An API key changed its organization.')
  return ({ organization, actor }, action, work, fieldsOf) =>
    change(actor, action, work, (result) => ({ organization: organization.name, ...fieldsOf(result) }))
}

/** A time in milliseconds as the Unix seconds of OpenAI's objects. */
export function secondsOf(time: number): number {
  return Math.floor(time / 1000)
}

/** The same for a time that may be missing. */
export function secondsOrNull(time: number | null): number | null {
  return time === null ? null : secondsOf(time)
}
