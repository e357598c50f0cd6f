import { parseDuration } from '../../config/units.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import type { ProviderSettings } from '../../config/provider-settings.ts'
import { hasResponsesApi } from '../kinds/responses.ts'
import type { Kind, KindSetting } from '../provider.ts'

const kindSettings: ReadonlySet<string> = new Set<KindSetting>([
  'api_version',
  'project',
  'location',
  'credentials',
])

/** A timer cannot be set further ahead than 24 days; a day is more than any call takes. */
const maxTimeoutMs = 86_400_000

/** The problems of the settings of an entry that its kind does not support. */
export function settingProblems(entry: ProviderSettings, kind: Kind, path: string): SettingsProblem[] {
  return [...unsupportedSettings(entry, kind, path), ...timeoutProblems(entry, path)]
}

function unsupportedSettings(entry: ProviderSettings, kind: Kind, path: string): SettingsProblem[] {
  return Object.keys(entry).flatMap((name) => {
    if (name === 'kind' || isSupported(name, kind)) return []
    return [
      { path: `${path}.${name}`, message: `is not supported by providers of kind ${kind.name}. Remove it.` },
    ]
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
