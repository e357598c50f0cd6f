/** What the log says of a rejected request beyond the error itself; never shown to the caller. */
export type RejectionFacts = {
  /** Which of the cases of its code it is: one of a fixed set of words. */
  readonly reason?: string
  /** The model that the request named, as it was written. */
  readonly model?: string | undefined
  /** The public id of the key, where its secret was right. */
  readonly key?: string | undefined
}

/** Why a key was not accepted. */
export type KeyRejection = 'malformed_key' | 'unknown_key' | 'wrong_secret' | 'revoked_key' | 'expired_key'

/** Why a name finds no model. */
export type ModelRejection = 'unknown_model' | 'ambiguous_model' | 'disabled_model'

/** Why a path is not found. */
export type RouteRejection = 'unknown_path' | 'unsupported_endpoint'
