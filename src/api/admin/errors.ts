import { bodyErrors, type ErrorStatus, guardErrors } from '../../http/describe.ts'

const isPossible = (status: ErrorStatus) => status !== 429

/** The errors of every route of the admin API. */
export const adminErrors = guardErrors.filter(isPossible)
/** The errors of every route that reads a body. */
export const changeErrors = bodyErrors.filter(isPossible)
