import { durationOf } from '../../config/duration.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import type { ProviderSettings } from '../../config/settings.ts'
import { responsesKinds } from '../kinds/responses.ts'
import type { Kind } from '../provider.ts'

const vertex = ['vertex', 'vertex-anthropic']
/** The settings that only some kinds know what to do with. */
const particular: Readonly<Record<string, readonly string[]>> = {
  api: responsesKinds,
  api_version: ['azure'],
  project: vertex,
  location: vertex,
  credentials: vertex,
}

/** A timer cannot be set further ahead than 24 days; a day is more than any call takes. */
const longestTimeout = 86_400_000

/** The settings of an entry that its kind cannot follow. */
export function settingProblems(entry: ProviderSettings, kind: Kind, path: string): SettingsProblem[] {
  return [...strangers(entry, kind, path), ...timeoutProblems(entry, path)]
}

function strangers(entry: ProviderSettings, kind: Kind, path: string): SettingsProblem[] {
  return Object.keys(entry).flatMap((name) => {
    if (name === 'kind' || followed(name, kind)) return []
    return [{ path: `${path}.${name}`, message: `has no meaning for kind ${kind.name}; remove it.` }]
  })
}

function followed(setting: string, kind: Kind): boolean {
  if (!('protocol' in kind)) return false
  return particular[setting]?.includes(kind.name) ?? true
}

function timeoutProblems({ timeouts }: ProviderSettings, path: string): SettingsProblem[] {
  return Object.entries(timeouts ?? {}).flatMap(([name, text]) => {
    if ((durationOf(text) ?? 0) <= longestTimeout) return []
    return [{ path: `${path}.timeouts.${name}`, message: 'must be at most 24h.' }]
  })
}
