import { type ErrorCodeDetails, invalidRequest, quota } from './code-details.ts'

/** The codes of keys, organizations, balances and rate limits. */
export const accessCodes = {
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
