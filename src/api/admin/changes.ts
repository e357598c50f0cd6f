import { badRequest } from '../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import type { Log, LogFields } from '../../lib/log.ts'
import { type KeyDirectory, OperatorError } from '../../storage/ports/accounts.ts'

export type ChangeDependencies = { readonly keys: Pick<KeyDirectory, 'refresh'>; readonly log: Log }

/**
 * Makes a change of the operator, which takes effect at once, and logs it with these fields of its result; none of them may
 * be a secret. Throws 404 for an object that does not exist, and 400 for a change that is not possible.
 */
type MakeChange = <Result>(
  action: string,
  work: () => Promise<Result>,
  fieldsOf: (result: Result) => LogFields,
) => Promise<Result>

export function createChanges({ keys, log }: ChangeDependencies): MakeChange {
  return async (action, work, fieldsOf) => {
    const result = await work().catch(toApiError)
    keys.refresh()
    log.info('The admin API changed the gateway.', { admin: action, ...fieldsOf(result) })
    return result
  }
}

function toApiError(error: unknown): never {
  if (!(error instanceof OperatorError)) throw error
  throw error.problem === 'missing'
    ? adminObjectNotFound(error.message)
    : badRequest(error.message, 'invalid_value', null)
}
