/** The details of an error code that callers need. */
export type ErrorCodeDetails = {
  /** The HTTP status of the response; 499 is only logged. */
  readonly status: number
  readonly type: readonly string[]
  /** Why the request fails. */
  readonly cause: string
  /** The remedy for the caller or the operator. */
  readonly remedy: string
  /** True if the official SDKs send the request again by themselves. */
  readonly retried: boolean
}

/** A code of a mistake in the request; 400 by default. */
export const invalidRequest = (cause: string, remedy: string, status = 400): ErrorCodeDetails => {
  return { status, type: ['invalid_request_error'], cause, remedy, retried: false }
}

/** A code of a request that cannot be paid. */
export const quota = (cause: string, remedy: string): ErrorCodeDetails => {
  return { status: 402, type: ['insufficient_quota'], cause, remedy, retried: false }
}

/** A code of what a key may not do. */
export const forbidden = (cause: string, remedy: string): ErrorCodeDetails => {
  return { status: 403, type: ['permission_error'], cause, remedy, retried: false }
}

/** A code of a failure that the caller has not caused. */
export const serverError = (
  status: number,
  retried: boolean,
  cause: string,
  remedy: string,
): ErrorCodeDetails => {
  return { status, type: ['server_error'], cause, remedy, retried }
}
