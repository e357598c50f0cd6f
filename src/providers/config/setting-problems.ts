import { problemPath, type SettingsProblem } from '../../config/problem.ts'
import type { ProviderSettings } from '../../config/provider-settings.ts'
import { maxTimeoutMs, parseDuration } from '../../config/units.ts'
import { nameSet } from '../../lib/text.ts'
import { hasResponsesApi } from '../kinds/responses.ts'
import type { Kind, KindSetting } from '../provider.ts'

const kindSettings: ReadonlySet<string> = new Set<KindSetting>([
  'api_version',
  'project',
  'location',
  'credentials',
])

/** The problems of the settings of an entry that its kind does not support. */
export function settingProblems(entry: ProviderSettings, kind: Kind, path: string): SettingsProblem[] {
  const unsupported = unsupportedSettings(entry, kind, path)
  return [...unsupported, ...timeoutProblems(entry, path), ...queueProblems(entry, path)]
}

function unsupportedSettings(entry: ProviderSettings, kind: Kind, path: string): SettingsProblem[] {
  return Object.keys(entry).flatMap((name) => {
    if (name === 'kind' || isSupported(name, kind)) return []
    const message = `is not supported by providers of kind ${kind.name}. Remove it.`
    return [{ path: `${path}.${name}`, message }]
  })
}

function isSupported(setting: string, kind: Kind): boolean {
  if (!('protocol' in kind)) return false
  if (setting === 'api') return hasResponsesApi(kind)
  return !kindSettings.has(setting) || kind.settings?.some((name) => name === setting) === true
}

function timeoutProblems({ timeouts }: ProviderSettings, path: string): SettingsProblem[] {
  return Object.entries(timeouts ?? {}).flatMap(([name, text]) => {
    if ((parseDuration(text) ?? 0) <= maxTimeoutMs) return []
    return [{ path: `${path}.timeouts.${name}`, message: 'must be at most 24h.' }]
  })
}

function queueProblems({ concurrency, queue }: ProviderSettings, path: string): SettingsProblem[] {
  if (queue === undefined) return []
  if (concurrency === undefined)
    return [{ path: `${path}.queue`, message: 'has no effect without concurrency. Set that, too.' }]
  return (parseDuration(queue.wait ?? '') ?? 0) <= maxTimeoutMs
    ? []
    : [{ path: `${path}.queue.wait`, message: 'must be at most 24h.' }]
}

type Headers = Readonly<Record<string, string>>

/** The headers that the gateway sets for each request. */
const gatewayHeaders = nameSet(
  'connection content-encoding content-length content-type host transfer-encoding',
)

/** Returns the headers with lower-case names. */
export function lowerCaseHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** The problems of the configured headers of a provider; `keyHeaders` are those that carry its key. */
export function headerProblems(
  headers: Headers,
  path: string,
  keyHeaders: ReadonlySet<string>,
): SettingsProblem[] {
  const seen = new Set<string>()
  return Object.entries(headers).flatMap(([name, value]) => {
    const lowerName = name.toLowerCase()
    const message = problemOf(lowerName, value, keyHeaders, seen.has(lowerName))
    seen.add(lowerName)
    return message === undefined ? [] : [{ path: problemPath(path, name), message }]
  })
}

function problemOf(
  name: string,
  value: string,
  keyHeaders: ReadonlySet<string>,
  isDuplicate: boolean,
): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is not a valid header name.'
  if (isDuplicate) return 'is set twice. Header names are case-insensitive.'
  if (gatewayHeaders.has(name)) return 'is a header that Weir sets itself. Remove it.'
  if (keyHeaders.has(name)) return 'is the header that carries api_key. Remove one of the two.'
  if (!/^[\x20-\x7e]*$/.test(value)) return 'must have a value of printable ASCII characters on one line.'
  return undefined
}
