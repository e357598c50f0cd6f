import { catalog } from '../../../config/catalog.ts'
import type { ModelDetails } from '../../../config/model-details.ts'
import { type Fields, fieldsOf, isObject, textOf } from '../../../lib/json/json.ts'
import { kinds } from '../../../providers/kinds/kinds.ts'
import { hasResponsesApi } from '../../../providers/kinds/responses.ts'
import { readFacts, type ImportedFacts } from './facts.ts'
import { findService } from './find-service.ts'
import { noteModelFields } from './model-fields.ts'
import type { Notes } from './notes.ts'
import { draftProvider } from './draft-provider.ts'
import type { ProviderRegistry, RegisteredProvider } from './provider-registry.ts'
import { type OtherApi, servedApi } from './served-api.ts'
import type { Translation } from './special-services.ts'
import { amountOf, escapeText, isTrue, quoted } from './values.ts'

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
  /** What the built-in catalog has about the model. */
  readonly catalogModel?: ModelDetails
  /** `weight`, `rpm` and `tpm` of the deployment, by which LiteLLM distributes requests. */
  readonly weights: readonly (number | undefined)[]
  /** A lower one is tried first. */
  readonly order?: number
}

/** What all entries of `model_list` share. */
export type DeploymentContext = {
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
  if (isTrue(info.blocked)) return reject(`${quoted(name)} is blocked.`)
  const translation = findService(params, paramsPath, notes)
  if (typeof translation === 'string') return reject(`${quoted(name)} was not imported. ${translation}`)
  const catalogModel = catalogModelOf(translation, info)
  const served = servedApi({ translation, info, catalogModel })
  if (typeof served === 'string') return reject(`${quoted(name)} was not imported. ${served}`)
  const draft = draftProvider(params, translation, paramsPath, notes)
  if (typeof draft === 'string') return reject(`${quoted(name)} was not imported. ${draft}`)
  noteModelFields(fieldsOf(entry), params, info, path, notes)
  return {
    path,
    name,
    ...(info.id !== undefined && { id: String(info.id) }),
    provider: context.registry.register(draft, paramsPath),
    model: escapeText(translation.model),
    ...routeApi(translation, info),
    ...(served.api && { otherApi: served.api }),
    facts: readFacts(info, params),
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
  return (api === 'responses' || mode === 'responses') && offersResponses(kind) ? { api: 'responses' } : {}
}

function offersResponses(kind: string): boolean {
  const record = kinds[kind]
  return record !== undefined && hasResponsesApi(record)
}
