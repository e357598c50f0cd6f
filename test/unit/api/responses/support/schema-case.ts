/** A request laid over the plain one that must pass. */
export type ValidCase = readonly [name: string, patch: object]

/** A request that must be refused, with the path and the code of the error. */
export type InvalidCase = readonly [name: string, patch: object, param: string | null, code: string]

export const missingParameter = 'missing_required_parameter'
export const invalidType = 'invalid_type'
export const invalidValue = 'invalid_value'

/** A request with only the required properties. */
export const minimalRequest = { model: 'weir/echo', input: 'Hello' }
