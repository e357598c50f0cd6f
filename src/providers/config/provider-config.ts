import { defaultProviderSettings } from '../../config/defaults.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import type { ProviderSettings } from '../../config/provider-settings.ts'
import { millisecondsOf } from '../../config/units.ts'
import { suggestion } from '../../lib/near-match.ts'
import { kinds } from '../kinds/kinds.ts'
import { withResponsesApi } from '../kinds/responses.ts'
import type { Kind, LocalKind, Provider, RemoteKind, Slots, Timeouts } from '../provider.ts'
import { baseUrlProblems, normalizeBaseUrl } from './base-url.ts'
import { configureGoogleCloud, type GoogleCloudConfig } from './google-cloud.ts'
import { findKey, keyProblems, missingKey, type ProviderConfigInput } from './provider-entry.ts'
import { headerProblems, lowerCaseHeaders, settingProblems } from './setting-problems.ts'

/** The provider of an entry, or the sentence that says what it needs. */
export type ConfigOutcome = {
  readonly provider?: Provider
  readonly missing?: string
  readonly problems?: readonly SettingsProblem[]
}

/** Configures the provider of an entry. */
export function configureProvider(input: ProviderConfigInput): ConfigOutcome {
  const kind = kindOf(input)
  if (kind === undefined) return invalidConfig(input, kindProblem(input))
  const problems = [...nameProblems(input), ...settingProblems(input.entry, kind, input.path)]
  if ('protocol' in kind) return configureRemote(input, kind, problems)
  return problems.length > 0 ? invalidConfig(input, ...problems) : { provider: localProvider(input, kind) }
}

function kindOf({ name, entry }: ProviderConfigInput): Kind | undefined {
  const kind = entry.kind ?? name
  const known = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  return entry.api === 'responses' && known && 'protocol' in known ? withResponsesApi(known) : known
}

function kindProblem({ name, entry, path }: ProviderConfigInput): SettingsProblem {
  const known = Object.keys(kinds)
  const hint = suggestion(entry.kind ?? name, known, `Known kinds: ${known.join(', ')}.`)
  const problem = entry.kind === undefined ? `is missing: ${name} is not a known kind.` : 'unknown kind.'
  return { path: `${path}.kind`, message: `${problem} ${hint}` }
}

/** The name is the part of a model slug before the slash. */
function nameProblems({ name, path }: ProviderConfigInput): SettingsProblem[] {
  if (/^[A-Za-z0-9][\w.-]*$/.test(name)) return []
  const message = 'must begin with a letter or digit and contain only letters, digits, “-”, “_” and “.”.'
  return [{ path, message }]
}

function configureRemote(
  input: ProviderConfigInput,
  kind: RemoteKind,
  entryProblems: readonly SettingsProblem[],
): ConfigOutcome {
  const { entry, path } = input
  const headers = entry.headers ?? {}
  const keyHeaders = new Set(Object.keys(kind.authorize('')).map((name) => name.toLowerCase()))
  // A configured header may carry the key.
  const keyInHeader =
    entry.api_key === undefined && Object.keys(lowerCaseHeaders(headers)).some((name) => keyHeaders.has(name))
  const key = keyInHeader ? undefined : findKey(input, kind)
  const cloud: GoogleCloudConfig = kind.googleCloud
    ? configureGoogleCloud(input, keyInHeader)
    : { problems: [] }
  const baseUrl = entry.base_url ?? cloud.baseUrl ?? kind.baseUrl
  const problems = [
    ...entryProblems,
    ...cloud.problems,
    ...keyProblems(key),
    ...headerProblems(headers, `${path}.headers`, keyInHeader ? new Set() : keyHeaders),
    ...(baseUrl === undefined ? [missingBaseUrl(path, kind)] : baseUrlProblems(baseUrl, `${path}.base_url`)),
  ]
  if (baseUrl === undefined || problems.length > 0) return invalidConfig(input, ...problems)
  const { credentials } = cloud
  if (!key && !credentials && !keyInHeader && kind.keyless !== true)
    return { missing: missingKey(path, kind) }
  const fields = { kind, baseUrl: normalizeBaseUrl(baseUrl), key: key?.key, credentials }
  return { provider: { ...commonFields(input), ...fields } }
}

function missingBaseUrl(path: string, kind: RemoteKind): SettingsProblem {
  const hint = kind.googleCloud ? '. Set base_url, or project and location' : ''
  const message = `is missing: a provider of kind ${kind.name} has no default base_url${hint}.`
  return { path: `${path}.base_url`, message }
}

function localProvider(input: ProviderConfigInput, kind: LocalKind): Provider {
  return { ...commonFields(input), kind, baseUrl: '' }
}

function commonFields({ name, entry }: ProviderConfigInput): Omit<Provider, 'kind' | 'baseUrl'> {
  return {
    name,
    apiVersion: entry.api_version,
    headers: lowerCaseHeaders(entry.headers ?? {}),
    timeouts: timeoutsOf(entry),
    discover: entry.discover ?? defaultProviderSettings.discover,
    ...(entry.concurrency !== undefined && { slots: slotsOf(entry.concurrency, entry) }),
  }
}

function slotsOf(concurrency: number, { queue }: ProviderSettings): Slots {
  const { wait, length } = { ...defaultProviderSettings.queue, ...queue }
  return { concurrency, waitMs: millisecondsOf(wait), length }
}

function timeoutsOf({ timeouts }: ProviderSettings): Timeouts {
  const { connect, first_byte, idle } = { ...defaultProviderSettings.timeouts, ...timeouts }
  return {
    connect: millisecondsOf(connect),
    firstByte: millisecondsOf(first_byte),
    idle: millisecondsOf(idle),
  }
}

/** The sentence in `missing` prevents further problems for the models of this provider. */
function invalidConfig(
  { path }: ProviderConfigInput,
  ...problems: readonly SettingsProblem[]
): ConfigOutcome {
  return { missing: `Fix ${path} in weir.yaml.`, problems }
}
