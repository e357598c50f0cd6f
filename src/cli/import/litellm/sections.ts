import { problemPath } from '../../../config/problem.ts'
import { type Fields, isObject, listOf } from '../../../lib/json/json.ts'
import type { Notes } from './notes.ts'
import type { Sections } from './operation.ts'

/** Notes the settings beside `model_list` that are not imported. */
export function noteSections(config: Fields, sections: Sections, notes: Notes): void {
  const { litellm_settings, router_settings, general_settings } = sections
  notes.addUnknown(litellm_settings, 'litellm_settings', litellmFields, litellmReasons)
  const strategy = router_settings.routing_strategy
  const isShuffle = strategy === undefined || strategy === null || strategy === 'simple-shuffle'
  if (!isShuffle) notes.add('router_settings.routing_strategy', strategyReason)
  notes.addUnknown(router_settings, 'router_settings', routerFields, routerReasons)
  notes.addUnknown(general_settings, 'general_settings', generalFields, generalReasons)
  noteVariables(config, notes)
  notes.addUnknown(config, '', topFields, topReasons)
}

const strategyReason =
  'Weir distributes requests by weight; it does not measure latency, usage or cost to choose a route.'

/** Weir reads the environment of its process only; values may be secrets and are not shown. */
function noteVariables(config: Fields, notes: Notes): void {
  const variables = config.environment_variables
  if (!isObject(variables)) return
  for (const name of Object.keys(variables))
    notes.add(
      problemPath('environment_variables', name),
      'Weir sets no environment variables; set it where Weir is started, if it needs it.',
    )
}

const observability =
  'Weir has no callbacks; it has metrics at /metrics, a log line for each request, and OpenTelemetry traces.'
const caching = 'Weir does not cache responses.'
const redis = 'Weir needs no Redis.'
const otherErrors =
  'Weir tries the next route when a provider fails, and not because of the size or the content of a prompt.'
const oneNumber = 'Weir has one number of retries for all errors: retries.attempts.'
const ownKeys =
  'Keys are not in this file: create them with weir keys create. For metrics and administration, set WEIR_ADMIN_KEY.'
const ownDatabase = 'Weir has its own database in its data folder; keys, teams and spending are not imported.'
const budgets = 'Use the balances of organizations: weir orgs credit.'
const signOn = 'Weir accepts its own keys only.'
const noHealthChecks = 'Weir sends no health checks to models; weir check --online does.'

const litellmFields: ReadonlySet<string> = new Set([
  'drop_params',
  'num_retries',
  'request_timeout',
  'fallbacks',
  'default_fallbacks',
  'allowed_fails',
  'cooldown_time',
  'vertex_project',
  'vertex_location',
  'telemetry',
])

const litellmReasons: Readonly<Record<string, string>> = {
  callbacks: observability,
  success_callback: observability,
  failure_callback: observability,
  service_callback: observability,
  service_callbacks: observability,
  audit_log_callbacks: observability,
  cache: caching,
  cache_params: caching,
  context_window_fallbacks: otherErrors,
  content_policy_fallbacks: otherErrors,
  set_verbose: 'Use log in weir.yaml.',
  json_logs: 'The log of weir serve is JSON where it is not a terminal.',
  max_budget: budgets,
  budget_duration: budgets,
  guardrails: 'Weir has no guardrails.',
  default_team_settings: ownDatabase,
  modify_params: 'Weir adapts requests to each provider itself.',
}

const routerFields: ReadonlySet<string> = new Set([
  'routing_strategy',
  'num_retries',
  'timeout',
  'stream_timeout',
  'allowed_fails',
  'cooldown_time',
  'fallbacks',
  'default_fallbacks',
  'model_group_alias',
])

const routerReasons: Readonly<Record<string, string>> = {
  redis_host: redis,
  redis_port: redis,
  redis_password: redis,
  redis_url: redis,
  cache_responses: caching,
  context_window_fallbacks: otherErrors,
  content_policy_fallbacks: otherErrors,
  enable_pre_call_checks: otherErrors,
  retry_policy: oneNumber,
  model_group_retry_policy: oneNumber,
  allowed_fails_policy: 'Weir counts the failures of a route, whatever they are: breaker.failures.',
  disable_cooldowns: 'Weir always keeps requests away from a route that fails, if the model has another one.',
  routing_strategy_args: strategyReason,
  enable_tag_filtering: 'Weir does not route by tags.',
  provider_budget_config: 'A provider has no budget in Weir.',
}

const generalFields: ReadonlySet<string> = new Set(['maximum_spend_logs_retention_period'])

const generalReasons: Readonly<Record<string, string>> = {
  master_key: ownKeys,
  database_url: ownDatabase,
  database_connection_pool_limit: ownDatabase,
  database_connection_timeout: ownDatabase,
  store_model_in_db: 'Models are in weir.yaml; send SIGHUP to read it again.',
  allow_requests_on_db_unavailable: ownDatabase,
  max_parallel_requests: 'Use limits.concurrent_requests, which applies to each organization.',
  global_max_parallel_requests: 'Use limits.concurrent_requests, which applies to each organization.',
  max_request_size_mb: 'Use max_body.',
  alerting: 'Use alerts of your monitoring on /metrics.',
  pass_through_endpoints: 'Weir does not pass requests through to other addresses.',
  background_health_checks: noHealthChecks,
  health_check_interval: noHealthChecks,
  enable_jwt_auth: signOn,
  custom_auth: signOn,
  litellm_jwtauth: signOn,
  completion_model: 'Each request names its model.',
}

const topFields: ReadonlySet<string> = new Set([
  'model_list',
  'litellm_settings',
  'router_settings',
  'general_settings',
  'environment_variables',
  'credential_list',
])

const topReasons: Readonly<Record<string, string>> = {
  include: 'Only this file was read; import the others too, and merge the results.',
  guardrails: 'Weir has no guardrails.',
  mcp_servers: 'Weir does not call MCP servers.',
  callback_settings: observability,
  files_settings: 'Weir does not serve files.',
  finetune_settings: 'Weir does not serve fine-tuning.',
  vector_store_registry: 'Weir does not search vector stores.',
}

/** `credential_values` by `credential_name`. */
export function readCredentials(config: Fields): ReadonlyMap<string, Fields> {
  return new Map(
    listOf(config.credential_list).flatMap((entry) => {
      if (!isObject(entry) || typeof entry.credential_name !== 'string') return []
      return [[entry.credential_name, isObject(entry.credential_values) ? entry.credential_values : {}]]
    }),
  )
}
