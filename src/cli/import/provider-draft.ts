import type { ProviderSettings } from '../../config/provider-settings.ts'
import { type Fields, fieldsOf, withoutEmpty } from '../../lib/json/json.ts'
import { headerProblems, settingProblems } from '../../providers/config/setting-problems.ts'
import { remoteKind } from '../../providers/kinds/kinds.ts'
import { durationIn, importedText, type ImportedText, type Part, variableText } from './source.ts'
import type { Translation } from './special-services.ts'
import { baseUrlProblems, normalizeBaseUrl, withoutEndpoint } from '../../providers/config/base-url.ts'
import type { RemoteKind } from '../../providers/provider.ts'
import { looksSecret, shortText } from '../../lib/text.ts'

/** Drafts the provider of a deployment; returns a sentence where it cannot be called. */
export function draftProvider(part: Part, translation: Translation): ProviderDraft | string {
  const { fields: params } = part
  const kind = remoteKind(translation.kind)
  if (kind === undefined) return `Weir has no kind ${translation.kind}.`
  const address = readBaseUrl(params.api_base, kind)
  if (address.problem !== undefined) return `Its api_base ${address.problem}`
  const read =
    address.baseUrl === undefined ? undefined : (translation.address?.(address.baseUrl) ?? address.baseUrl)
  const cloud = cloudSettings(translation)
  if (typeof cloud === 'string') return cloud
  const needsDefault = kind.baseUrl === undefined && cloud.project === undefined
  const baseUrl = read ?? (needsDefault ? translation.defaultBaseUrl : undefined)
  if (!baseUrl && needsDefault) return 'It has no api_base.'
  const { literalKey, ...key } = readKey(part, translation, kind)
  const { headers, literalHeaders } = readHeaders(part, kind)
  const settings: ProviderDraft['settings'] = {
    ...(baseUrl && baseUrl !== kind.baseUrl && { base_url: baseUrl }),
    ...key,
    ...apiVersion(params, address.apiVersion, translation.kind),
    ...cloud,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...timeouts(part),
  }
  const [problem] = settingProblems(settings, kind, 'It')
  if (problem !== undefined) return `${problem.path} ${problem.message}`
  return { kind: translation.kind, settings, ...(literalKey !== undefined && { literalKey }), literalHeaders }
}

type CloudSettings = Pick<ProviderSettings, 'project' | 'location' | 'credentials'>

function cloudSettings({ project, location, credentials }: Translation): CloudSettings | string {
  const isName = (text: string | undefined) =>
    text === undefined || /^\$\{\w+\}$|^[a-z0-9][a-z0-9.:-]*$/.test(text)
  if (!isName(project)) return 'Its vertex_project is not the id of a project.'
  if (!isName(location) || (location?.includes('.') ?? false)) return 'Its vertex_location is not a location.'
  return withoutEmpty({ project, location, credentials })
}

/** Azure's newest API has no version, under several names. */
function apiVersion(
  params: Fields,
  fromUrl: string | undefined,
  kind: string,
): Pick<ProviderSettings, 'api_version'> {
  if (kind !== 'azure') return {}
  const version = importedText(params.api_version)?.text ?? fromUrl
  return version === undefined || /^(v1|latest|preview)$/.test(version) ? {} : { api_version: version }
}

/** `stream_timeout` is one of the model: `first_byte` is also how long an answer that is not streamed may take. */
function timeouts(part: Part): Pick<ProviderSettings, 'timeouts'> {
  const duration = durationIn(part, 'timeout')
  return duration === undefined || duration === defaultFirstByte ? {} : { timeouts: { first_byte: duration } }
}

const defaultFirstByte = '600s'

/** The provider of a deployment, before it has a name in weir.yaml. */
export type ProviderDraft = {
  readonly kind: string
  /** Without `kind`, and without a key that the source contains. */
  readonly settings: Omit<ProviderSettings, 'kind'>
  /** Identifies a key that the source contains in plain text. It is never printed. */
  readonly literalKey?: string
  /** Headers whose values the source contains in plain text, by name. They are never printed. */
  readonly literalHeaders: Readonly<Record<string, string>>
}

/** An address of the source, or the sentence that says why it cannot be used. */
type ImportedBaseUrl =
  | { readonly baseUrl?: string; readonly apiVersion?: string; readonly problem?: undefined }
  | { readonly problem: string }

/**
 * Reads `api_base`. An endpoint path at its end is removed, because Weir appends its own; so is `?api-version=`, which is
 * a setting. An address in an environment variable is used as it is.
 */
function readBaseUrl(value: unknown, kind: RemoteKind): ImportedBaseUrl {
  const imported = importedText(value)
  if (imported === undefined) return value === undefined || value === null || value === '' ? {} : notAnAddress
  if (imported.variable !== undefined) return { baseUrl: imported.text }
  const [address = '', query] = imported.text.split('?', 2)
  const apiVersion = new URLSearchParams(query).get('api-version') ?? undefined
  if (query !== undefined && apiVersion === undefined) return notAnAddress
  if (/[${}\s]/.test(address) || !/^https?:\/\/[^/]/.test(address)) return notAnAddress
  if (baseUrlProblems(address, '').length > 0) return notAnAddress
  const baseUrl = withoutEndpoint(normalizeBaseUrl(address), kind)
  return { baseUrl, ...(apiVersion !== undefined && { apiVersion }) }
}

const notAnAddress = {
  problem: 'must be an address such as https://host/v1, without a password and a query.',
} as const

/** The key of a deployment as a setting, or a key in plain text, which only tells providers apart. */
type ImportedKey = Pick<ProviderDraft, 'literalKey'> & { readonly api_key?: string }

/** Reads `api_key`; without one, the provider takes the variable that LiteLLM takes. */
function readKey(part: Part, { keyVariable }: Translation, kind: RemoteKind): ImportedKey {
  const { fields, path, notes } = part
  const imported = importedText(fields.api_key)
  const [ownVariable] = kind.keyVariables
  if (kind.googleCloud) {
    if (imported !== undefined)
      notes.add(`${path}.api_key`, 'Weir signs in to Google Cloud with a service account.')
    return {}
  }
  if (imported?.variable !== undefined)
    return imported.variable === ownVariable ? {} : { api_key: imported.text }
  if (imported !== undefined && !(kind.keyless && isNoKey(imported.text)))
    return { literalKey: imported.text }
  if (imported !== undefined) return {}
  if (keyVariable !== undefined) return { api_key: variableText(keyVariable) }
  noteOtherVariables(kind, part)
  return {}
}

/** LiteLLM takes the key of the first one that is set, and Weir its own. */
const otherVariables: Readonly<Record<string, string>> = {
  together: 'TOGETHERAI_API_KEY or TOGETHER_AI_API_KEY',
  fireworks: 'FIREWORKS_AI_API_KEY or FIREWORKSAI_API_KEY',
  perplexity: 'PERPLEXITYAI_API_KEY',
  snowflake: 'SNOWFLAKE_JWT',
}

function noteOtherVariables(kind: RemoteKind, { path, notes }: Part): void {
  const { name, keyVariables, baseUrl, keyless } = kind
  const others = otherVariables[name]
  if (others !== undefined)
    notes.add(`${path}.api_key`, `Weir takes the key from ${keyVariables[0]}, and not from ${others}.`)
  if (keyless && baseUrl === undefined)
    notes.add(`${path}.api_key`, 'There is no key: Weir sends none, and no OPENAI_API_KEY, to this address.')
}

/** Placeholders for the key of a server that needs none. */
function isNoKey(text: string): boolean {
  return /^(none|null|empty|dummy|fake|anything|na|n\/a|no-?key|not-?needed|not-?required|sk-no-key-required|x+)$/i.test(
    text,
  )
}

/** The headers of a deployment as settings, and those that hold a secret in plain text. */
type ImportedHeaders = {
  readonly headers: Readonly<Record<string, string>>
  readonly literalHeaders: Readonly<Record<string, string>>
}

/** Reads `headers`, `extra_headers` and `organization`; names are compared without regard to case, the last one counts. */
function readHeaders(part: Part, kind: RemoteKind): ImportedHeaders {
  const { fields, path, notes } = part
  const found = new Map<string, readonly [string, ImportedText]>()
  for (const field of ['headers', 'extra_headers']) {
    for (const [name, value] of Object.entries(fieldsOf(fields[field])).slice(0, maxHeaders)) {
      const header = importedText(value)
      const problem = header === undefined ? 'It has no value.' : problemOf(name, header, kind)
      if (header === undefined || problem !== undefined)
        notes.add(`${path}.${field}.${shortText(name, 60)}`, problem ?? '')
      else found.set(name.toLowerCase(), [name, header])
    }
  }
  addOrganization(found, part, kind)
  const all = [...found.values()]
  const isSecret = ([name, { variable, text }]: readonly [string, ImportedText]) =>
    variable === undefined && (secretName.test(name) || looksSecret(text))
  return {
    headers: toRecord(all.filter((entry) => !isSecret(entry))),
    literalHeaders: toRecord(all.filter(isSecret)),
  }
}

const maxHeaders = 50
const secretName = /auth|key|token|secret|cookie|password/i

function problemOf(name: string, { text, variable }: ImportedText, kind: RemoteKind): string | undefined {
  const keyHeaders = new Set(Object.keys(kind.authorize('')).map((header) => header.toLowerCase()))
  if (keyHeaders.has(name.toLowerCase())) return 'Weir sets this header itself; set api_key of the provider.'
  const value = variable === undefined ? text : ''
  const [problem] = headerProblems({ [name]: value }, '', keyHeaders)
  return problem === undefined ? undefined : `The header ${problem.message}`
}

/** The organization of an OpenAI account is a header. */
function addOrganization(
  found: Map<string, readonly [string, ImportedText]>,
  { fields, path, notes }: Part,
  kind: RemoteKind,
): void {
  if (fields.organization === undefined || fields.organization === null) return
  const organization = importedText(fields.organization)
  if (
    kind.name === 'openai' &&
    organization !== undefined &&
    !problemOf('openai-organization', organization, kind)
  )
    found.set('openai-organization', ['openai-organization', organization])
  else
    notes.add(
      `${path}.organization`,
      'It must be one organization of OpenAI; add a provider with the header openai-organization for each.',
    )
}

function toRecord(entries: readonly (readonly [string, ImportedText])[]): Record<string, string> {
  return Object.fromEntries(entries.map(([name, { text }]) => [name, text]))
}
