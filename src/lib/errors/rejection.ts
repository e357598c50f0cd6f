/** Details of a rejected request for the log; never shown to the caller. */
export type RejectionDetails = {
  /** The case within the error code: one of a fixed set. */
  readonly reason?: string
  /** The model name in the request. */
  readonly model?: string | undefined
  /** The public id of the key, if its secret is valid. */
  readonly key?: string | undefined
}

/** Why a key was not accepted. */
export type KeyRejection = 'malformed_key' | 'unknown_key' | 'wrong_secret' | 'revoked_key' | 'expired_key'

/** Why no model has the requested name. */
export type ModelRejection = 'unknown_model' | 'ambiguous_model' | 'disabled_model' | 'unsupported_api'

/** Why a path is not found. */
export type RouteRejection = 'unknown_path' | 'unsupported_endpoint'
