import type { Fields } from '../../../lib/json/json.ts'
import { factFields } from './facts.ts'
import { noCounterpart, type Notes } from './notes.ts'
import { isPriceField } from './pricing.ts'

/** Notes what an entry of `model_list` says beyond what Weir has a setting for. */
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

function withoutPrices(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isPriceField(name)))
}

const entryFields: ReadonlySet<string> = new Set([
  'model_name',
  'litellm_params',
  'model_info',
  'description',
])

/** The parameters that are imported, or that need nothing. */
const paramFields: ReadonlySet<string> = new Set([
  'model',
  'custom_llm_provider',
  'api_key',
  'api_base',
  'base_url',
  'api_version',
  'organization',
  'headers',
  'extra_headers',
  'timeout',
  'stream_timeout',
  'weight',
  'order',
  'litellm_credential_name',
  'vertex_project',
  'vertex_ai_project',
  'vertex_location',
  'vertex_ai_location',
  'vertex_credentials',
  'vertex_ai_credentials',
  'aws_region_name',
  'stream',
])

const rateLimit =
  'A provider has no rate limit in Weir; this is at most a weight of the route. Organizations have limits.'
const signIn = 'Weir does not sign in to Microsoft Entra ID; use a key of the resource.'
const defaultParameter = 'A model has no default parameters in Weir; clients send them.'
const retries = 'The number of retries is one for all models: retries.attempts.'
const modelLimit = 'A model has no budget in Weir; organizations have balances (weir orgs credit).'
const awsKeys = 'Weir calls Bedrock with an API key; set AWS_BEARER_TOKEN_BEDROCK.'

const paramReasons: Readonly<Record<string, string>> = {
  rpm: rateLimit,
  tpm: rateLimit,
  max_parallel_requests: rateLimit,
  max_budget: modelLimit,
  budget_duration: modelLimit,
  max_retries: retries,
  num_retries: retries,
  azure_ad_token: signIn,
  tenant_id: signIn,
  client_id: signIn,
  client_secret: signIn,
  azure_username: signIn,
  azure_password: signIn,
  aws_access_key_id: awsKeys,
  aws_secret_access_key: awsKeys,
  aws_session_token: awsKeys,
  aws_role_name: awsKeys,
  aws_profile_name: awsKeys,
  drop_params: 'It is one setting for all models: unsupported_parameters.',
  additional_drop_params: 'Set supported_parameters of the model, and unsupported_parameters: drop.',
  ...Object.fromEntries(
    [
      'temperature',
      'top_p',
      'top_k',
      'max_tokens',
      'max_completion_tokens',
      'seed',
      'stop',
      'n',
      'frequency_penalty',
      'presence_penalty',
      'response_format',
      'reasoning_effort',
      'thinking',
      'tools',
      'tool_choice',
      'extra_body',
      'user',
    ].map((name) => [name, defaultParameter]),
  ),
  input_cost_per_second: 'Weir charges by tokens, images and requests, not by time.',
  output_cost_per_second: 'Weir charges by tokens, images and requests, not by time.',
  tags: 'Weir does not route by tags.',
  ssl_verify: 'Weir always verifies certificates.',
  mock_response: 'Use the built-in model weir/echo for tests.',
  guardrails: 'Weir has no guardrails.',
  region_name: noCounterpart,
}

/** What of `model_info` is imported, or only describes. */
const infoFields: ReadonlySet<string> = new Set([
  ...factFields,
  'id',
  'mode',
  'output_vector_size',
  'base_model',
  'blocked',
  'description',
  'db_model',
  'version',
  'key',
  'litellm_provider',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
])

const everyKey =
  'Every key of Weir may use every model; restrict access in front of it, or do not import the model.'

const infoReasons: Readonly<Record<string, string>> = {
  access_groups: everyKey,
  team_id: everyKey,
  team_public_model_name: everyKey,
  access_windows: everyKey,
  supported_environments: 'Use one settings file for each environment.',
  supports_response_schema: 'Set supported_parameters of the model if it does not support response_format.',
  supported_openai_params: 'Set supported_parameters of the model.',
  health_check_timeout: 'Weir sends no health checks to models; weir check --online does.',
  health_check_model: 'Weir sends no health checks to models; weir check --online does.',
}
