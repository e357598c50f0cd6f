import { problemPath } from '../../config/problem.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'
import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { shellWord } from '../quote.ts'
import { factFields, isPriceField } from './facts.ts'
import { limitArguments, limitFields, readBudget, readLimits } from './imported-limits.ts'
import type { Notes, Sections } from './source.ts'

/** Notes the fields of an entry of `model_list` for which Weir has no setting. */
export function noteModelFields(
  entry: Fields,
  params: Fields,
  info: Fields,
  path: string,
  notes: Notes,
): void {
  notes.addUnknown(entry, path, entryFields, { rpm: rateLimit, tpm: rateLimit })
  notes.addUnknown(withoutPrices(params), `${path}.litellm_params`, paramFields, paramReasons)
  notes.addUnknown(withoutPrices(info), `${path}.model_info`, infoFields, infoReasons)
}

/** Notes the settings beside `model_list` that are not imported. */
export function noteSections(config: Fields, sections: Sections, notes: Notes): void {
  const { litellm_settings, router_settings, general_settings } = sections
  notes.addUnknown(litellm_settings, 'litellm_settings', litellmFields, litellmReasons)
  const strategy = router_settings.routing_strategy
  const isShuffle = strategy === undefined || strategy === null || strategy === 'simple-shuffle'
  if (!isShuffle) notes.add('router_settings.routing_strategy', strategyReason)
  notes.addUnknown(router_settings, 'router_settings', routerFields, routerReasons)
  notes.addUnknown(general_settings, 'general_settings', generalFields, generalReasons)
  noteBudgets(litellm_settings, notes)
  noteVariables(config, notes)
  notes.addUnknown(config, '', topFields, topReasons)
}

function withoutPrices(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isPriceField(name)))
}

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

/** The reason of each name, from a table of the names by their reason. */
function reasons(table: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([reason, text]) => [...nameSet(text)].map((name) => [name, reason])),
  )
}

const entryFields = nameSet('model_name litellm_params model_info description')

/** The parameters that are imported, or that need nothing. */
const paramFields = nameSet(`
  model custom_llm_provider api_key api_base base_url api_version organization headers extra_headers
  timeout stream_timeout weight order litellm_credential_name vertex_project vertex_ai_project
  vertex_location vertex_ai_location vertex_credentials vertex_ai_credentials aws_region_name stream`)

const rateLimit =
  'A provider has no rate limit in Weir; this is at most a weight of the route. Organizations have limits.'

const paramReasons = reasons({
  [rateLimit]: 'rpm tpm',
  'Set concurrency of the provider, which counts the requests to all of its models.': 'max_parallel_requests',
  'A model has no budget in Weir; organizations, projects and keys have (weir keys set --budget).':
    'max_budget budget_duration',
  'The number of retries is one for all models: retries.attempts.': 'max_retries num_retries',
  'Weir does not sign in to Microsoft Entra ID; use a key of the resource.':
    'azure_ad_token tenant_id client_id client_secret azure_username azure_password',
  'Weir calls Bedrock with an API key; set AWS_BEARER_TOKEN_BEDROCK.':
    'aws_access_key_id aws_secret_access_key aws_session_token aws_role_name aws_profile_name',
  'It is one setting for all models: unsupported_parameters.': 'drop_params',
  'Set supported_parameters of the model, and unsupported_parameters: drop.': 'additional_drop_params',
  'A model has no default parameters in Weir; clients send them.': `
    temperature top_p top_k max_tokens max_completion_tokens seed stop n frequency_penalty
    presence_penalty response_format reasoning_effort thinking tools tool_choice extra_body user`,
  'Weir charges by tokens, images and requests, not by time.': 'input_cost_per_second output_cost_per_second',
  'Weir does not route by tags.': 'tags',
  'Weir always verifies certificates.': 'ssl_verify',
  'Use the built-in model weir/echo for tests.': 'mock_response',
  'Weir has no guardrails.': 'guardrails',
})

/** The fields of `model_info` that are imported, or only describe the model. */
const infoFields: ReadonlySet<string> = new Set([
  ...factFields,
  ...nameSet(`
    id mode output_vector_size base_model blocked description db_model version key litellm_provider
    created_at created_by updated_at updated_by`),
])

const noHealthChecks = 'Weir sends no health checks to models; weir check --online does.'

const infoReasons = reasons({
  'Weir has no access groups; name the models of a key or a project: weir keys set --models.':
    'access_groups team_id team_public_model_name access_windows',
  'Use one settings file for each environment.': 'supported_environments',
  'Set supported_parameters of the model if it does not support response_format.': 'supports_response_schema',
  'Set supported_parameters of the model.': 'supported_openai_params',
  [noHealthChecks]: 'health_check_timeout health_check_model',
})

const observability =
  'Weir has no callbacks; it has metrics at /metrics, a log line for each request, and OpenTelemetry traces.'
const caching = 'Weir does not cache responses.'
const longPrompts =
  'Add the larger model as a route with its context_window, and context_length to “on” of the route before it.'
const otherErrors = 'Weir sends what a content filter has rejected to no other route.'
const ownDatabase =
  'Weir has its own database in its data folder; weir import litellm --keys imports keys and teams.'
const strategyReason =
  'Weir distributes requests by weight; it does not measure latency, usage or cost to choose a route.'

const litellmFields = nameSet(`
  drop_params num_retries request_timeout fallbacks default_fallbacks allowed_fails cooldown_time
  vertex_project vertex_location telemetry
  max_budget budget_duration default_team_settings default_key_generate_params`)

const litellmReasons = reasons({
  [observability]: `
    callbacks success_callback failure_callback service_callback service_callbacks audit_log_callbacks`,
  [caching]: 'cache cache_params',
  [longPrompts]: 'context_window_fallbacks',
  [otherErrors]: 'content_policy_fallbacks',
  'Use log in weir.yaml.': 'set_verbose',
  'Weir always has an audit log: weir audit.': 'store_audit_logs',
  'The log of weir serve is JSON where it is not a terminal.': 'json_logs',
  'Weir has no guardrails.': 'guardrails',
  'Weir adapts requests to each provider itself.': 'modify_params',
  'Each budget has a time zone of its own: --budget-time-zone.': 'timezone',
})

const routerFields = nameSet(`
  routing_strategy num_retries timeout stream_timeout allowed_fails cooldown_time fallbacks
  default_fallbacks model_group_alias`)

const routerReasons = reasons({
  'Weir needs no Redis.': 'redis_host redis_port redis_password redis_url',
  [caching]: 'cache_responses',
  [longPrompts]: 'context_window_fallbacks enable_pre_call_checks',
  [otherErrors]: 'content_policy_fallbacks',
  'Weir has one number of retries for all errors: retries.attempts.': 'retry_policy model_group_retry_policy',
  'Weir counts the failures of a route, whatever they are: breaker.failures.': 'allowed_fails_policy',
  'Weir always keeps requests away from a route that fails, if the model has another one.':
    'disable_cooldowns',
  [strategyReason]: 'routing_strategy_args',
  'Weir does not route by tags.': 'enable_tag_filtering',
  'A provider has no budget in Weir.': 'provider_budget_config',
})

const generalFields = nameSet('maximum_spend_logs_retention_period')

const generalReasons = reasons({
  'Keys are not in this file: create them with weir keys create, or import them with --keys. For metrics and administration, create an admin key with weir admin-keys create.':
    'master_key',
  [ownDatabase]: `
    database_url database_connection_pool_limit database_connection_timeout
    allow_requests_on_db_unavailable`,
  'Models are in weir.yaml; send SIGHUP to read it again.': 'store_model_in_db',
  'Use limits.concurrent_requests, which applies to each organization.':
    'max_parallel_requests global_max_parallel_requests',
  'Use max_body.': 'max_request_size_mb',
  'Use webhooks in weir.yaml, or alerts of your monitoring on /metrics.': 'alerting',
  'Weir does not pass requests through to other addresses.': 'pass_through_endpoints',
  [noHealthChecks]: 'background_health_checks health_check_interval',
  'Weir accepts its own keys only.': 'enable_jwt_auth custom_auth litellm_jwtauth',
  'Each request names its model.': 'completion_model',
})

const topFields = nameSet(`
  model_list litellm_settings router_settings general_settings environment_variables credential_list`)

const topReasons = reasons({
  'Only this file was read; import the others too, and merge the results.': 'include',
  'Weir has no guardrails.': 'guardrails',
  'Weir does not call MCP servers.': 'mcp_servers',
  [observability]: 'callback_settings',
  'Weir does not serve files.': 'files_settings',
  'Weir does not serve fine-tuning.': 'finetune_settings',
  'Weir does not search vector stores.': 'vector_store_registry',
})

/** Notes the budgets and limits of `litellm_settings` with the command that sets them: Weir has them in its database. */
function noteBudgets(settings: Fields, notes: Notes): void {
  noteProxyBudget(settings, notes)
  noteTeams(settings, notes)
  noteKeyDefaults(settings, notes)
}

/** The budget of the whole proxy. */
function noteProxyBudget(settings: Fields, notes: Notes): void {
  const path = 'litellm_settings'
  const flags = limitArguments(readBudget({ fields: settings, path, notes }))
  if (flags !== '') notes.add(`${path}.max_budget`, `Run: weir orgs set ${defaultOrganization} ${flags}`)
  else if (settings.budget_duration != null)
    notes.add(`${path}.budget_duration`, 'Without a max_budget, it has no effect.')
}

function noteTeams({ default_team_settings: teams }: Fields, notes: Notes): void {
  for (const [index, team] of listOf(teams).entries()) {
    const path = `litellm_settings.default_team_settings[${index}]`
    const fields = fieldsOf(team)
    const id = textOf(fields.team_id)?.trim()
    const flags = limitArguments(readLimits({ fields, path, notes }))
    const name = id && id !== defaultTeam ? shellWord(id) : 'NAME'
    notes.add(path, `Run, for each such team: weir projects create ${name}${flags && ` ${flags}`}`)
    notes.addUnknown(fields, path, teamFields)
  }
}

/** The id that stands for teams without settings of their own. */
const defaultTeam = 'default-settings'
const teamFields = nameSet(`team_id ${limitFields}`)

/** The limits that new keys have unless they are created with others. */
function noteKeyDefaults({ default_key_generate_params: defaults }: Fields, notes: Notes): void {
  if (!isObject(defaults)) return
  const path = 'litellm_settings.default_key_generate_params'
  const flags = limitArguments(readLimits({ fields: defaults, path, notes }))
  notes.add(
    path,
    `Weir has no defaults for new keys; create each with: weir keys create${flags && ` ${flags}`}`,
  )
}
