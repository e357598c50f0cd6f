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

const invalidRequest = (cause: string, remedy: string, status = 400): ErrorCodeDetails => {
  return { status, type: ['invalid_request_error'], cause, remedy, retried: false }
}

const quota = (cause: string, remedy: string): ErrorCodeDetails => {
  return { status: 402, type: ['insufficient_quota'], cause, remedy, retried: false }
}

const serverError = (status: number, retried: boolean, cause: string, remedy: string): ErrorCodeDetails => {
  return { status, type: ['server_error'], cause, remedy, retried }
}

const upstream = (retried: boolean, cause: string, remedy: string) => serverError(502, retried, cause, remedy)

const fixField = 'Change the field that `param` names.'

/** The codes of fields that break the schema of the request. */
const validationCodes = {
  missing_required_parameter: invalidRequest(
    'A required field is missing.',
    'Add the field that `param` names.',
  ),
  unknown_parameter: invalidRequest(
    'An object that allows no other fields has one.',
    'Remove the field that `param` names.',
  ),
  invalid_type: invalidRequest('A value has the wrong type.', fixField),
  invalid_value: invalidRequest('A value is not one of those allowed here.', fixField),
  integer_below_min_value: invalidRequest('An integer is too small.', fixField),
  integer_above_max_value: invalidRequest('An integer is too large.', fixField),
  decimal_below_min_value: invalidRequest('A number is too small.', fixField),
  decimal_above_max_value: invalidRequest('A number is too large.', fixField),
  string_below_min_length: invalidRequest('A string is too short.', fixField),
  string_above_max_length: invalidRequest('A string is too long.', fixField),
  empty_array: invalidRequest('An array is empty and needs items.', fixField),
  array_below_min_length: invalidRequest('An array has too few items.', fixField),
  array_above_max_length: invalidRequest('An array has too many items.', fixField),
  object_above_max_properties: invalidRequest('An object has too many properties.', fixField),
  object_too_large: invalidRequest(
    'The `metadata` is too large as JSON.',
    'Store less in it, or store it elsewhere and send its id.',
  ),
} as const satisfies Readonly<Record<string, ErrorCodeDetails>>

/** The codes of requests that are valid JSON and still cannot be served. */
const requestCodes = {
  unsupported_parameter: invalidRequest(
    'The gateway or the model does not support a parameter.',
    'Remove it, choose another model, or set `unsupported_parameters: drop`.',
  ),
  unsupported_value: invalidRequest('The gateway does not support this value of a parameter.', fixField),
  invalid_image_url: invalidRequest(
    'An image could not be fetched, is not an image, or is too large.',
    'Send the image inline as a data URL, or use a public https address.',
  ),
  previous_response_not_found: invalidRequest(
    'The response of `previous_response_id` does not exist, was deleted, or is still in progress.',
    'Wait until it has ended, or send the conversation in `input`.',
  ),
  context_length_exceeded: invalidRequest(
    'The conversation is longer than the model or the gateway accepts.',
    'Shorten it, or choose a model with a larger context window.',
  ),
  content_filter: invalidRequest(
    'The provider rejected the content of the request.',
    'Change the content. The message is that of the provider.',
  ),
  upstream_rejected: invalidRequest(
    'The provider rejected the request as invalid.',
    'Change the request. The message is that of the provider.',
  ),
  model_not_found: invalidRequest(
    'No enabled model has this name.',
    'List the models with `GET /v1/models`, or with `weir models --all` to see why one is disabled.',
    404,
  ),
  request_timeout: {
    ...invalidRequest('The request body did not arrive in time.', 'Send the request again.', 408),
    retried: true,
  },
  request_too_large: invalidRequest(
    'The request body is larger than `max_body`.',
    'Send less, or ask the operator for a larger `max_body`.',
    413,
  ),
  unsupported_media_type: invalidRequest(
    'The request body is compressed or has a content type other than JSON.',
    'Send plain JSON.',
    415,
  ),
  method_not_supported: invalidRequest(
    'The path does not support this method.',
    'Use a method of the `allow` header.',
    405,
  ),
  method_not_implemented: {
    ...invalidRequest('HTTP has no such method.', 'Use a method of HTTP.', 501),
    retried: true,
  },
} as const satisfies Readonly<Record<string, ErrorCodeDetails>>

/** The codes of keys, organizations, balances and rate limits. */
const accessCodes = {
  invalid_api_key: invalidRequest(
    'The API key is mistyped, expired or revoked.',
    'Use a valid key. `weir keys list` shows their states.',
    401,
  ),
  billing_not_configured: quota(
    'The organization has no billing, or it is prepaid and the model has no price.',
    'Ask the operator to set `weir orgs set NAME --billing …`, or a price for the model.',
  ),
  insufficient_balance: quota(
    'The balance does not cover the most that the request can cost.',
    'Send a smaller `max_tokens`, or ask the operator for credit.',
  ),
  budget_exceeded: quota(
    'The request can cost more than a budget of the key, its project or its organization has left, or a new key would take more.',
    'Send a smaller `max_tokens`, wait for the next period, or ask for a larger budget.',
  ),
  permission_required: {
    status: 403,
    type: ['permission_error'],
    cause: 'The API key has no permission to manage its organization, or to create API keys.',
    remedy:
      'Use a key with the permission that the message names. `weir keys set ID --permissions …` grants it.',
    retried: false,
  },
  no_organization: invalidRequest(
    'The organization of the API key was deleted.',
    'Use the key of an existing organization.',
    403,
  ),
  metrics_forbidden: invalidRequest(
    'The metrics were requested from another machine, without the admin key.',
    'Send `WEIR_ADMIN_KEY` as the bearer token.',
    403,
  ),
  admin_key_required: invalidRequest(
    'The admin API was called without the admin key, or the gateway has none.',
    'Set `WEIR_ADMIN_KEY` and send it as the bearer token.',
    401,
  ),
  rate_limit_exceeded: {
    status: 429,
    type: ['requests', 'tokens'],
    cause: 'The organization has exceeded a rate limit: of requests or of tokens.',
    remedy: 'Wait for as long as `retry-after-ms` says.',
    retried: true,
  },
} as const satisfies Readonly<Record<string, ErrorCodeDetails>>

/** The codes of failures at a provider. */
const upstreamCodes = {
  provider_key_missing: upstream(
    false,
    'The model is enabled, but its provider has no API key.',
    'The operator sets the key. `weir check` names the variable.',
  ),
  provider_key_rejected: upstream(
    false,
    'The provider rejected the API key of the gateway.',
    'The operator replaces the key. `weir check --online` tries it.',
  ),
  provider_quota_exhausted: upstream(
    false,
    'The account of the gateway at the provider has no quota or credit left.',
    'The operator adds credit at the provider.',
  ),
  upstream_model_not_found: upstream(
    false,
    'The provider does not have the model of the route.',
    'The operator corrects the route. `weir check --online` lists such models.',
  ),
  upstream_rate_limited: upstream(
    true,
    'The provider limits the rate of the gateway.',
    'Wait for as long as `retry-after` says. A second route avoids it.',
  ),
  upstream_unavailable: upstream(
    true,
    'The provider cannot be reached, failed, or sent a response that is not usable.',
    'Send the request again. A second route avoids it.',
  ),
  upstream_timeout: upstream(
    true,
    'The provider did not connect, or did not respond in time.',
    'Send the request again, or set longer `timeouts` for the provider.',
  ),
} as const satisfies Readonly<Record<string, ErrorCodeDetails>>

/** The codes of the gateway itself. */
const gatewayCodes = {
  internal_error: serverError(
    500,
    true,
    'The gateway has failed unexpectedly.',
    'Find the cause in the log by the `x-request-id` of the response, and report it.',
  ),
  service_unavailable: {
    status: 503,
    type: ['service_unavailable_error'],
    cause: 'The gateway is stopping, short of memory, or without its database, or its queue is full.',
    remedy: 'Send the request again after `retry-after`. `GET /readyz` says what is wrong.',
    retried: true,
  },
  response_not_stored: serverError(
    503,
    false,
    'The response was generated and is charged, but could not be stored, because the database is unavailable.',
    'Send the request with `store: false`, or once `GET /readyz` is 200 again.',
  ),
  interrupted: serverError(
    503,
    true,
    'The gateway stopped before the response was complete.',
    'Send the request again.',
  ),
  client_gone: invalidRequest(
    'The client closed the connection. The code is only in the log and in `weir usage`.',
    'If it was not on purpose, set a longer timeout in the client or in a proxy before the gateway.',
    499,
  ),
  cancelled: invalidRequest(
    'A background run was cancelled. The code is only in the log and in `weir usage`.',
    'None is needed.',
    499,
  ),
} as const satisfies Readonly<Record<string, ErrorCodeDetails>>

/** Every error code of the API, in groups. An `ApiError` has one of these codes, or none. */
export const errorCodeGroups = {
  validation: validationCodes,
  request: requestCodes,
  access: accessCodes,
  upstream: upstreamCodes,
  gateway: gatewayCodes,
} as const

/** A code of `error.code`. */
export type ErrorCode = {
  [Group in keyof typeof errorCodeGroups]: keyof (typeof errorCodeGroups)[Group]
}[keyof typeof errorCodeGroups]
