import { catalog } from '../../config/catalog.ts'
import type { ModelDetails } from '../../config/model-details.ts'
import { type Fields, fieldsOf, isObject, textOf } from '../../lib/json/json.ts'
import { remoteKind } from '../../providers/kinds/kinds.ts'
import { type ImportedFacts, readFacts } from './facts.ts'
import { findService } from './services.ts'
import { noteModelFields } from './unsupported.ts'
import { amountOf, durationIn, escapeText, isTrue, type Notes, quoted } from './source.ts'
import { draftProvider } from './provider-draft.ts'
import type { ProviderRegistry, RegisteredProvider } from './provider-registry.ts'
import type { Translation } from './special-services.ts'

/** An entry of `model_list` that Weir can serve: a provider, and the name of the model there. */
export type Deployment = {
  /** The path of the entry. */
  readonly path: string
  /** `model_name`: deployments with the same name are the routes of one model. A wildcard has a `*`. */
  readonly name: string
  /** `model_info.id`, which fallbacks may name. */
  readonly id?: string
  readonly provider: RegisteredProvider
  readonly model: string
  readonly api?: 'responses'
  /** The API of a model that is not for conversations. */
  readonly otherApi?: OtherApi
  readonly facts: ImportedFacts
  /** How long its streams may take to begin. */
  readonly streamTimeout?: string
  /** The entry of the built-in catalog for the model. */
  readonly catalogModel?: ModelDetails
  /** `weight`, `rpm` and `tpm` of the deployment, by which LiteLLM distributes requests. */
  readonly weights: readonly (number | undefined)[]
  /** A lower one is tried first. */
  readonly order?: number
}

/** The sources that all entries of `model_list` share. */
type DeploymentContext = {
  readonly notes: Notes
  readonly registry: ProviderRegistry
  /** `credential_values` by `credential_name`. */
  readonly credentials: ReadonlyMap<string, Fields>
  /** Parameters of all deployments, such as a timeout. */
  readonly defaults: Fields
}

/** Reads an entry of `model_list`; undefined, with a note, for one that Weir cannot serve. */
export function readDeployment(
  entry: unknown,
  path: string,
  context: DeploymentContext,
): Deployment | undefined {
  const { notes } = context
  const reject = (reason: string): undefined => void notes.add(path, reason)
  if (!isObject(entry)) return reject('It is not a model.')
  const name = textOf(entry.model_name)?.trim()
  if (!name || name.length > maxNameLength) return reject('It has no usable model_name.')
  const info = fieldsOf(entry.model_info)
  const paramsPath = `${path}.litellm_params`
  const params = withCredentials(fieldsOf(entry.litellm_params), paramsPath, context)
  const part = { fields: params, path: paramsPath, notes }
  if (isTrue(info.blocked)) return reject(`${quoted(name)} is blocked.`)
  const translation = findService(part)
  if (typeof translation === 'string') return reject(`${quoted(name)} was not imported. ${translation}`)
  const catalogModel = catalogModelOf(translation, info)
  const served = servedApi({ translation, info, catalogModel })
  if (typeof served === 'string') return reject(`${quoted(name)} was not imported. ${served}`)
  const draft = draftProvider(part, translation)
  if (typeof draft === 'string') return reject(`${quoted(name)} was not imported. ${draft}`)
  noteModelFields(fieldsOf(entry), params, info, path, notes)
  const streamTimeout = served.api === 'embeddings' ? undefined : durationIn(part, 'stream_timeout')
  return {
    path,
    name,
    ...(info.id !== undefined && { id: String(info.id) }),
    provider: context.registry.register(draft, paramsPath),
    model: escapeText(translation.model),
    ...routeApi(translation, info),
    ...(served.api && { otherApi: served.api }),
    facts: readFacts(info, params),
    ...(streamTimeout !== undefined && { streamTimeout }),
    ...(catalogModel && { catalogModel }),
    weights: [amountOf(params.weight), amountOf(params.rpm), amountOf(params.tpm)],
    order: amountOf(params.order),
  }
}

const maxNameLength = 300

/** The parameters with those of `litellm_credential_name` and the defaults beneath them. */
function withCredentials(
  params: Fields,
  path: string,
  { credentials, defaults, notes }: DeploymentContext,
): Fields {
  const name = textOf(params.litellm_credential_name)
  const values = name === undefined ? {} : credentials.get(name)
  if (values === undefined)
    notes.add(`${path}.litellm_credential_name`, 'The credential is not in credential_list of this file.')
  const base = params.api_base ?? params.base_url
  return { ...defaults, ...values, ...params, ...(base !== undefined && base !== null && { api_base: base }) }
}

/** The model of the built-in catalog: the one of the provider, or the one that `base_model` names. */
function catalogModelOf({ kind, model }: Translation, info: Fields): ModelDetails | undefined {
  const baseModel = textOf(info.base_model)
  const names = [
    `${kind}/${model}`,
    ...(kind === 'vertex' ? [`gemini/${model}`] : []),
    ...(kind === 'vertex-anthropic' ? [`anthropic/${model.replace('@', '-')}`] : []),
    ...(baseModel === undefined ? [] : [baseModel, openaiModel(baseModel)]),
  ]
  return catalog.models.find(({ routes = [] }) =>
    routes.some((route) => names.includes(`${route.provider}/${route.model}`)),
  )
}

/** Models of Azure are those of OpenAI. */
function openaiModel(baseModel: string): string {
  return `openai/${baseModel.replace(/^(azure|openai)\//, '')}`
}

/** Whether the provider's Responses API is used, which only some kinds have. */
function routeApi({ kind, api }: Translation, { mode }: Fields): { readonly api?: 'responses' } {
  const isWanted = api === 'responses' || mode === 'responses'
  return isWanted && remoteKind(kind)?.responsesApi ? { api: 'responses' } : {}
}

/** An API that a model of the source serves instead of conversations. */
type OtherApi = 'embeddings' | 'completions'

/** The fields from which the API of a deployment is derived. */
type ServedApiInput = {
  readonly translation: Translation
  /** `model_info`. */
  readonly info: Fields
  readonly catalogModel: ModelDetails | undefined
}

/** Returns the API of a model that is not for conversations, if it is one; or a sentence that says why Weir cannot serve it. */
function servedApi(input: ServedApiInput): { readonly api?: OtherApi } | string {
  const use = useOf(input)
  if (use === 'conversations') return {}
  if (use !== 'embeddings' && use !== 'completions') return use.reason
  const { kind } = input.translation
  return offers(kind, use) ? { api: use } : `Weir does not support ${use} with providers of the kind ${kind}.`
}

type Use = 'conversations' | OtherApi | { readonly reason: string }

/** The mode says it, else the service, the catalog, or the name of the model. */
function useOf({ translation, info: { mode }, catalogModel }: ServedApiInput): Use {
  if (typeof mode === 'string' && mode !== '')
    return modes.get(mode) ?? { reason: `Weir does not serve models of the mode ${quoted(mode)}.` }
  if (translation.otherApi !== undefined) return translation.otherApi
  if (catalogModel?.supported_apis?.includes('embeddings') || embeddingModel.test(translation.model))
    return 'embeddings'
  if (catalogModel?.enabled !== false && !unsupportedModel.test(translation.model)) return 'conversations'
  return {
    reason: 'It does not seem to be a chat model; if it is, set model_info.mode to chat and import again.',
  }
}

const modes: ReadonlyMap<string, Use> = new Map([
  ['chat', 'conversations'],
  ['responses', 'conversations'],
  ['embedding', 'embeddings'],
  ['completion', 'completions'],
])

/** The names of embedding models. */
const embeddingModel = /(^|[-_/.])(embed|embedding|embeddings)([-_/.]|\d|$)/i

/** The names of models that Weir does not serve. */
const unsupportedModel = /(^|[-_/.])(whisper|tts|dall-e|rerank|moderation)([-_/.]|\d|$)/i

function offers(name: string, api: OtherApi): boolean {
  const operation = api === 'embeddings' ? 'embedding' : 'completion'
  return remoteKind(name)?.operations?.[operation] !== undefined
}
