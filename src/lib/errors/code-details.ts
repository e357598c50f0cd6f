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

/** The details of a code of invalid requests. */
export const invalidRequest = (cause: string, remedy: string, status = 400): ErrorCodeDetails => {
  return { status, type: ['invalid_request_error'], cause, remedy, retried: false }
}

/** The details of a code of requests that cannot be paid. */
export const quota = (cause: string, remedy: string): ErrorCodeDetails => {
  return { status: 402, type: ['insufficient_quota'], cause, remedy, retried: false }
}

/** The details of a code of failures of the gateway. */
export const serverError = (
  status: number,
  retried: boolean,
  cause: string,
  remedy: string,
): ErrorCodeDetails => {
  return { status, type: ['server_error'], cause, remedy, retried }
}

/** The details of a code of failures at a provider. */
export const upstream = (retried: boolean, cause: string, remedy: string) =>
  serverError(502, retried, cause, remedy)
