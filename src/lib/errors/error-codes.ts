import { accessCodes } from './access-codes.ts'
import { type ErrorCodeDetails, invalidRequest, serverError } from './error-code-details.ts'

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
    'The request body is compressed or multipart.',
    'Send plain JSON.',
    415,
  ),
  method_not_supported: invalidRequest(
    'The path does not support this method.',
    'Use a method of the `allow` header.',
    405,
  ),
  upgrade_not_supported: invalidRequest(
    'The client wants to speak WebSocket.',
    'Send the request by HTTP; in the settings of Codex: `supports_websockets = false`.',
    426,
  ),
  method_not_implemented: {
    ...invalidRequest('HTTP has no such method.', 'Use a method of HTTP.', 501),
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
    'The client closed the connection, or read nothing for a minute. The code is in the log and in `weir usage`.',
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
