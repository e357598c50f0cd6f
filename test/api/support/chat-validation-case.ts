/** A request laid over the plain one that must pass. */
export type Accepted = readonly [name: string, patch: object]

/** A request that must be refused, with the path and the code of the error. */
export type Refused = readonly [name: string, patch: object, param: string | null, code: string]

export const missing = 'missing_required_parameter'
export const wrongType = 'invalid_type'
export const wrongWord = 'invalid_value'

/** A request that says no more than it must. */
export const plainRequest = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }
