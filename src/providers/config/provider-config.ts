import { durationOf } from '../../config/duration.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import type { ProviderSettings } from '../../config/settings.ts'
import { nearMatch } from '../../lib/near-match.ts'
import { baseUrlProblems, normalizeBaseUrl } from '../address.ts'
import { kinds } from '../kinds/kinds.ts'
import { withResponsesApi } from '../kinds/responses.ts'
import type { Kind, LocalKind, Provider, RemoteKind, Timeouts } from '../provider.ts'
import { type Cloud, configureCloud } from '../vertex/cloud.ts'
import { headerProblems, lowerCaseHeaders } from './headers.ts'
import { findKey, keyProblems, missingKey } from './key.ts'
import type { ProviderConfigInput } from './provider-config-input.ts'
import { settingProblems } from './setting-problems.ts'

/** What became of an entry: a provider, or else the sentence that says what would make it one. */
export type Outcome = {
  readonly provider?: Provider
  readonly missing?: string
  readonly problems?: readonly SettingsProblem[]
}

/** The provider that an entry describes. */
export function configureProvider(place: ProviderConfigInput): Outcome {
  const kind = kindOf(place)
  if (kind === undefined) return broken(place, kindProblem(place))
  const problems = [...nameProblems(place), ...settingProblems(place.entry, kind, place.path)]
  if ('protocol' in kind) return configureRemote(place, kind, problems)
  return problems.length > 0 ? broken(place, ...problems) : { provider: localProvider(place, kind) }
}

function kindOf({ name, entry }: ProviderConfigInput): Kind | undefined {
  const kind = entry.kind ?? name
  const known = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  return entry.api === 'responses' && known && 'protocol' in known ? withResponsesApi(known) : known
}

function kindProblem({ name, entry, path }: ProviderConfigInput): SettingsProblem {
  const near = nearMatch(entry.kind ?? name, Object.keys(kinds))
  const guess =
    near === undefined ? `Known kinds: ${Object.keys(kinds).join(', ')}.` : `Did you mean ${near}?`
  const complaint = entry.kind === undefined ? `is missing: ${name} is no kind.` : 'unknown kind.'
  return { path: `${path}.kind`, message: `${complaint} ${guess}` }
}

/** A name stands before the slash in the slugs of models. */
function nameProblems({ name, path }: ProviderConfigInput): SettingsProblem[] {
  if (/^[A-Za-z0-9][\w.-]*$/.test(name)) return []
  return [{ path, message: 'the name of a provider has letters, digits, “-”, “_” and “.” only.' }]
}

function configureRemote(
  place: ProviderConfigInput,
  kind: RemoteKind,
  found: readonly SettingsProblem[],
): Outcome {
  const { entry, path } = place
  const headers = entry.headers ?? {}
  const keyHeaders = new Set(Object.keys(kind.authorize('')).map((name) => name.toLowerCase()))
  // A header that carries the key takes its place.
  const byHeader =
    entry.api_key === undefined && Object.keys(lowerCaseHeaders(headers)).some((name) => keyHeaders.has(name))
  const key = byHeader ? undefined : findKey(place, kind)
  const cloud: Cloud = kind.googleCloud ? configureCloud(place, byHeader) : { problems: [] }
  const address = entry.base_url ?? cloud.baseUrl ?? kind.baseUrl
  const problems = [
    ...found,
    ...cloud.problems,
    ...keyProblems(key),
    ...headerProblems(headers, `${path}.headers`, byHeader ? new Set() : keyHeaders),
    ...(address === undefined ? [noAddress(path, kind)] : baseUrlProblems(address, `${path}.base_url`)),
  ]
  if (address === undefined || problems.length > 0) return broken(place, ...problems)
  const { credentials } = cloud
  if (!key && !credentials && !byHeader && kind.keyless !== true) return { missing: missingKey(path, kind) }
  return {
    provider: { ...common(place), kind, baseUrl: normalizeBaseUrl(address), key: key?.key, credentials },
  }
}

function noAddress(path: string, kind: RemoteKind): SettingsProblem {
  const way = kind.googleCloud ? '; project and location give it one' : ''
  return {
    path: `${path}.base_url`,
    message: `is missing: a provider of kind ${kind.name} has no usual address${way}.`,
  }
}

function localProvider(place: ProviderConfigInput, kind: LocalKind): Provider {
  return { ...common(place), kind, baseUrl: '' }
}

function common({ name, entry }: ProviderConfigInput): Omit<Provider, 'kind' | 'baseUrl'> {
  return {
    name,
    apiVersion: entry.api_version,
    headers: lowerCaseHeaders(entry.headers ?? {}),
    timeouts: timeoutsOf(entry),
    discover: entry.discover ?? false,
  }
}

function timeoutsOf({ timeouts }: ProviderSettings): Timeouts {
  return {
    connect: durationOf(timeouts?.connect ?? '') ?? 10_000,
    firstByte: durationOf(timeouts?.first_byte ?? '') ?? 600_000,
    idle: durationOf(timeouts?.idle ?? '') ?? 300_000,
  }
}

/** The sentence keeps models that name the provider from being reported as well. */
function broken({ path }: ProviderConfigInput, ...problems: readonly SettingsProblem[]): Outcome {
  return { missing: `Mend ${path} in weir.yaml.`, problems }
}
