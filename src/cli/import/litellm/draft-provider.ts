import type { ProviderSettings } from '../../../config/provider-settings.ts'
import type { Fields } from '../../../lib/json/json.ts'
import { settingProblems } from '../../../providers/config/setting-problems.ts'
import { kinds } from '../../../providers/kinds/kinds.ts'
import { readBaseUrl } from './base-url.ts'
import { readHeaders } from './headers.ts'
import { readKey } from './keys.ts'
import type { Notes } from './notes.ts'
import type { ProviderDraft } from './provider-draft.ts'
import type { Translation } from './special-services.ts'
import { durationOf, importedText } from './values.ts'

/** Drafts the provider of a deployment; returns a sentence where it cannot be called. */
export function draftProvider(
  params: Fields,
  translation: Translation,
  path: string,
  notes: Notes,
): ProviderDraft | string {
  const kind = kinds[translation.kind]
  if (kind === undefined || !('protocol' in kind)) return `Weir has no kind ${translation.kind}.`
  const address = readBaseUrl(params.api_base, translation.kind)
  if (address.problem !== undefined) return `Its api_base ${address.problem}`
  const read =
    address.baseUrl === undefined ? undefined : (translation.address?.(address.baseUrl) ?? address.baseUrl)
  const cloud = cloudSettings(translation)
  if (typeof cloud === 'string') return cloud
  const needsDefault = kind.baseUrl === undefined && cloud.project === undefined
  const baseUrl = read ?? (needsDefault ? translation.defaultBaseUrl : undefined)
  if (!baseUrl && needsDefault) return 'It has no api_base.'
  const { literalKey, ...key } = readKey(params, translation, kind, path, notes)
  const { headers, literalHeaders } = readHeaders(params, kind, path, notes)
  const settings: ProviderDraft['settings'] = {
    ...(baseUrl && baseUrl !== kind.baseUrl && { base_url: baseUrl }),
    ...key,
    ...apiVersion(params, address.apiVersion, translation.kind),
    ...cloud,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...timeouts(params, path, notes),
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
  return {
    ...(project !== undefined && { project }),
    ...(location !== undefined && { location }),
    ...(credentials !== undefined && { credentials }),
  }
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

/** Weir streams from every provider, so what is waited for is the first event. */
function timeouts(params: Fields, path: string, notes: Notes): Pick<ProviderSettings, 'timeouts'> {
  const name =
    params.stream_timeout === undefined || params.stream_timeout === null ? 'timeout' : 'stream_timeout'
  const value = params[name]
  if (value === undefined || value === null) return {}
  const duration = durationOf(value)
  if (duration === undefined) notes.add(`${path}.${name}`, 'It is not a number of seconds.')
  return duration === undefined || duration === defaultFirstByte ? {} : { timeouts: { first_byte: duration } }
}

const defaultFirstByte = '600s'
