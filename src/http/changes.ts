import { badRequest } from '../lib/errors/errors.ts'
import { adminObjectNotFound, mintRejected } from '../lib/errors/http-errors.ts'
import type { Log, LogFields } from '../lib/log.ts'
import { OperatorError } from '../storage/ports/accounts.ts'
import type { KeyDirectory } from '../storage/ports/known-keys.ts'
import type { Actor } from '../storage/ports/audit.ts'
import type { Managed, ManagedStores } from '../storage/ports/storage.ts'

export type ChangeDependencies = {
  readonly keys: Pick<KeyDirectory, 'refresh'>
  readonly managed: Managed
  readonly log: Log
}

/**
 * Makes a change by this actor, which takes effect at once, and logs it with these fields of its result; none of them may be
 * a secret.
 * Throws 404 for an object that does not exist, 402 for a budget that cannot spare another one, and 400 for a change that is
 * not possible.
 */
export type MakeChange = <Result>(
  actor: Actor,
  action: string,
  work: (stores: ManagedStores) => Promise<Result>,
  fieldsOf: (result: Result) => LogFields,
) => Promise<Result>

/** `message` is that of the log. */
export function createChanges({ keys, managed, log }: ChangeDependencies, message: string): MakeChange {
  return async (actor, action, work, fieldsOf) => {
    const result = await work(managed.by(actor)).catch(toApiError)
    keys.refresh()
    log.info(message, { admin: action, by: actor.id ?? undefined, ...fieldsOf(result) })
    return result
  }
}

function toApiError(error: unknown): never {
  if (!(error instanceof OperatorError)) throw error
  if (error.problem === 'missing') throw adminObjectNotFound(error.message)
  if (error.problem === 'budget') throw mintRejected(error.message)
  throw badRequest(error.message, 'invalid_value', null)
}
