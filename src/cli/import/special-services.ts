import { type Fields, textOf } from '../../lib/json/json.ts'
import { importedText, type Notes, variableText } from './source.ts'

/** A deployment of LiteLLM that is translated. */
type SpecialInput = {
  /** The model without the prefix of the service. */
  readonly model: string
  /** `litellm_params`, and the defaults of `litellm_settings`. */
  readonly params: Fields
  /** `api_base` as it is, for the choice of the kind. */
  readonly apiBase: string
  /** The path of `litellm_params`. */
  readonly path: string
  readonly notes: Notes
}

/** The kind, address and model by which Weir calls the deployment; or a sentence that says why it cannot. */
export type Translation = {
  readonly kind: string
  readonly model: string
  readonly api?: 'responses'
  /** The API of a service that is not for conversations. */
  readonly otherApi?: 'completions'
  /** Applied to `api_base` after it was read. */
  readonly address?: (baseUrl: string) => string
  /** The address where the source has none. */
  readonly defaultBaseUrl?: string
  readonly keyVariable?: string
  readonly project?: string
  readonly location?: string
  readonly credentials?: string
}

/** The services whose addresses, models or keys differ between LiteLLM and Weir, by their prefix. */
export const specialServices: Readonly<Record<string, (input: SpecialInput) => Translation | string>> = {
  openai,
  'text-completion-openai': (input) => ({ ...openai(input), otherApi: 'completions' }),
  azure,
  azure_ai: azureAi,
  bedrock,
  bedrock_converse: bedrock,
  bedrock_mantle: bedrockMantle,
  vertex_ai: vertex,
  vertex_ai_beta: vertex,
  ollama,
  ollama_chat: ollama,
  huggingface,
  fireworks_ai: fireworks,
  snowflake: ({ model }) => ({ kind: 'snowflake', model, address: snowflakeAddress }),
}

/** With an address of its own it is any compatible server. */
function openai({ model, apiBase }: SpecialInput): Translation {
  const responses = withoutPrefix(model, ['responses/'])
  const kind =
    apiBase === '' || /^https:\/\/api\.openai\.com(\/|$)/.test(apiBase) ? 'openai' : 'openai-compatible'
  const ownAddress = kind === 'openai' ? { address: () => '' } : {}
  return {
    kind,
    ...ownAddress,
    ...(responses === undefined ? { model } : { model: responses, api: 'responses' }),
  }
}

function azure({ model }: SpecialInput): Translation | string {
  const responses = withoutPrefix(model, ['responses/'])
  const deployment = responses ?? withoutPrefix(model, ['o_series/', 'gpt5_series/']) ?? model
  if (deployment === '') return 'It names no deployment.'
  const defaultBaseUrl = variableText('AZURE_API_BASE')
  return {
    kind: 'azure',
    model: deployment,
    defaultBaseUrl,
    ...(responses !== undefined && { api: 'responses' }),
  }
}

/** Azure AI Foundry: Claude has Anthropic's API, other models are called by the resource or by an address of their own. */
function azureAi({ model, apiBase }: SpecialInput): Translation | string {
  const defaultBaseUrl = variableText('AZURE_AI_API_BASE')
  const keyVariable = 'AZURE_AI_API_KEY'
  if (/claude/i.test(model)) {
    const address = (baseUrl: string) => withPath(baseUrl.replace(/\/v1$/, ''), '/anthropic')
    return { kind: 'anthropic', model, address, defaultBaseUrl, keyVariable }
  }
  if (/\.(services|cognitiveservices)\.(ai\.)?azure\.com/.test(apiBase) || apiBase === '') {
    const address = (baseUrl: string) => withPath(baseUrl, '/models')
    return { kind: 'azure', model, address, defaultBaseUrl, keyVariable }
  }
  const address = (baseUrl: string) => withPath(baseUrl, '/v1')
  return { kind: 'openai-compatible', model, address, keyVariable }
}

/** Weir calls the OpenAI-compatible endpoint of Bedrock, which serves the open-weight models of OpenAI. */
function bedrock({ model, params, path, notes }: SpecialInput): Translation | string {
  const name = model.replace(/^(converse|invoke)\//, '')
  if (!/(^|\.)openai\.|^openai\//.test(name))
    return 'Weir reaches Bedrock by its OpenAI-compatible endpoint, which does not serve this model; call the maker of the model directly, or Claude by vertex_ai.'
  if (params.aws_access_key_id !== undefined || params.aws_role_name !== undefined)
    notes.add(
      `${path}.aws_access_key_id`,
      'Weir calls Bedrock with an API key; set AWS_BEARER_TOKEN_BEDROCK.',
    )
  const region = awsRegion(params)
  if (region === undefined) return 'Its aws_region_name is not a region.'
  const defaultBaseUrl = `https://bedrock-runtime.${region}.amazonaws.com/openai/v1`
  return { kind: 'bedrock', model: name.replace(/^openai\/(?=openai\.)/, ''), defaultBaseUrl }
}

/** The newer OpenAI-compatible endpoint of Bedrock. */
function bedrockMantle({ model, params }: SpecialInput): Translation | string {
  const region = awsRegion(params)
  if (region === undefined) return 'Its aws_region_name is not a region.'
  const defaultBaseUrl = `https://bedrock-mantle.${region}.api.aws/v1`
  return { kind: 'bedrock', model, defaultBaseUrl, keyVariable: 'BEDROCK_MANTLE_API_KEY' }
}

/** The region, which becomes a part of the host; undefined for a text that is none. */
function awsRegion({ aws_region_name: value }: Fields): string | undefined {
  if (value === undefined || value === null || value === '') return variableText('AWS_REGION')
  const region = importedText(value)
  return region?.variable !== undefined || /^[a-z0-9-]+$/.test(region?.text ?? '') ? region?.text : undefined
}

/** Gemini and Claude on Google Cloud, in a project and location. */
function vertex({ model, params, apiBase, path, notes }: SpecialInput): Translation | string {
  const name = model.replace(/^gemini\//, '')
  const isClaude = /^(anthropic\/)?claude/.test(name)
  const isForeign = name.includes('/')
    ? !/^(endpoints|tunedModels)\//.test(name)
    : /^(meta|mistral|codestral|jamba|llama|deepseek|qwen)/.test(name)
  if (!isClaude && isForeign) return 'On Google Cloud, Weir calls the models of Google and Anthropic only.'
  const credentials = vertexCredentials(params, path, notes)
  const kind = isClaude ? 'vertex-anthropic' : 'vertex'
  const settings = { kind, model: name.replace(/^anthropic\//, ''), ...(credentials && { credentials }) }
  if (apiBase !== '') return settings
  const project = importedText(params.vertex_project ?? params.vertex_ai_project)
  const location = importedText(params.vertex_location ?? params.vertex_ai_location)
  return {
    ...settings,
    project: project?.text ?? variableText('VERTEXAI_PROJECT'),
    location: location?.text ?? variableText('VERTEXAI_LOCATION'),
  }
}

/** The file of a service account; the content of one is a secret and is not copied. */
function vertexCredentials(params: Fields, path: string, notes: Notes): string | undefined {
  const value = params.vertex_credentials ?? params.vertex_ai_credentials
  if (value === undefined || value === null) return undefined
  const imported = importedText(value)
  if (imported !== undefined && !imported.text.startsWith('{')) return imported.text
  notes.add(
    `${path}.vertex_credentials`,
    'The key in plain text was not copied; save it in a file and set credentials of the provider to its path.',
  )
  return undefined
}

/** Weir calls Ollama by its OpenAI-compatible API. */
function ollama({ model }: SpecialInput): Translation {
  return { kind: 'ollama', model, address: (baseUrl) => withPath(baseUrl, '/v1') }
}

/** LiteLLM writes the partner before the model, and Hugging Face's router after it. */
function huggingface({ model, apiBase }: SpecialInput): Translation {
  if (apiBase !== '')
    return { kind: 'openai-compatible', model, address: (baseUrl) => withPath(baseUrl, '/v1') }
  const parts = model.split('/')
  const [partner, ...rest] = parts
  const name = parts.length > 2 ? `${rest.join('/')}:${partner}` : model
  return { kind: 'huggingface', model: name, keyVariable: 'HUGGINGFACE_API_KEY' }
}

function fireworks({ model }: SpecialInput): Translation {
  const isPath = model.startsWith('accounts/') || model.includes('#') || model.includes('*')
  return { kind: 'fireworks', model: isPath ? model : `accounts/fireworks/models/${model}` }
}

/** Snowflake has an OpenAI-compatible API beside the one that LiteLLM calls. */
function snowflakeAddress(baseUrl: string): string {
  return withPath(baseUrl.replace(/\/(cortex\/.*)?$/, ''), '/cortex/v1')
}

function withoutPrefix(model: string, prefixes: readonly string[]): string | undefined {
  const prefix = prefixes.find((text) => model.startsWith(text))
  return prefix === undefined ? undefined : textOf(model.slice(prefix.length))
}

/** The address with `path` at its end, once. */
function withPath(baseUrl: string, path: string): string {
  return baseUrl.endsWith(path) ? baseUrl : `${baseUrl.replace(/\/+$/, '')}${path}`
}
