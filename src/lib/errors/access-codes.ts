import { type ErrorCodeDetails, forbidden, invalidRequest, quota } from './error-code-details.ts'

/** The codes of keys, organizations, balances and rate limits. */
export const accessCodes = {
  invalid_api_key: invalidRequest(
    'The API key is mistyped, expired or revoked.',
    'Use a valid key. `weir keys list` shows their states.',
    401,
  ),
  billing_not_configured: quota(
    'The organization has no billing, or the model has no price where a balance or a budget pays.',
    'Ask the operator to set `weir orgs set NAME --billing …`, or a price for the model.',
  ),
  insufficient_balance: quota(
    'The balance does not cover the most that the request can cost.',
    'Send a smaller `max_tokens`, or ask the operator for credit.',
  ),
  budget_exceeded: quota(
    'A budget of the key, its project or its organization does not cover what the request can cost, or a new key would take.',
    'Send a smaller `max_tokens`, wait for the reset that the message names, or ask for a higher budget.',
  ),
  permission_required: forbidden(
    'The API key has no permission to manage its organization, or to create API keys.',
    'Use a key with the permission that the message names. `weir keys set ID --permissions …` grants it.',
  ),
  model_not_allowed: forbidden(
    'The key, its project or its organization may not use the model.',
    'Use a model of `GET /v1/models`, which lists those that the key may use.',
  ),
  key_disabled: forbidden(
    'The API key, or the one that created it, is disabled.',
    'The operator enables it with `weir keys set ID --enable`.',
  ),
  project_disabled: forbidden(
    'The project of the API key is disabled or was deleted.',
    'The operator enables it with `weir projects set ID --enable`, or creates a key without it.',
  ),
  organization_disabled: forbidden(
    'The organization of the API key is disabled.',
    'The operator enables it with `weir orgs set NAME --enable`.',
  ),
  no_organization: invalidRequest(
    'The organization of the API key was deleted.',
    'Use the key of an existing organization.',
    403,
  ),
  metrics_forbidden: invalidRequest(
    'The metrics were requested from another machine, without an admin key.',
    'Send an admin key as the bearer token.',
    403,
  ),
  admin_key_required: invalidRequest(
    'The admin API was called without an admin key.',
    'Create one with `weir admin-keys create`, and send it as the bearer token.',
    401,
  ),
  invalid_admin_key: invalidRequest(
    'The admin key is mistyped, expired or revoked.',
    'Use a valid one. `weir admin-keys list` shows their states.',
    401,
  ),
  admin_permission_required: forbidden(
    'The admin key has no permission to change the gateway, or to read what clients have sent and received.',
    'Use an admin key with the permission that the message names. `weir admin-keys list` shows which have it.',
  ),
  rate_limit_exceeded: {
    status: 429,
    type: ['requests', 'tokens'],
    cause:
      'The organization, the project or the key has reached a limit: of requests, tokens, large bodies or queued runs.',
    remedy: 'Wait for as long as `retry-after-ms` says.',
    retried: true,
  },
  provider_busy: {
    status: 429,
    type: ['requests'],
    cause:
      'All slots of the provider are in use, and its queue is full, or the request has waited too long in it.',
    remedy: 'Wait for as long as `retry-after` says. A second route avoids it.',
    retried: true,
  },
} as const satisfies Readonly<Record<string, ErrorCodeDetails>>
