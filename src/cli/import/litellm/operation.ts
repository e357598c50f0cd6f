import { problemPath } from '../../../config/problem.ts'
import type { SettingsFile } from '../../../config/settings.ts'
import { parseDuration } from '../../../config/units.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Notes } from './notes.ts'
import { amountOf, durationOf, isTrue } from './values.ts'

/** How requests are retried and routed, and what is kept. */
type OperationSettings = Pick<SettingsFile, 'retries' | 'breaker' | 'unsupported_parameters' | 'retention'>

/** The settings, and the path in the source that each came from. */
export type ImportedOperation = {
  readonly settings: OperationSettings
  readonly sources: ReadonlyMap<string, string>
}

/** The sections of the source, besides the models. */
export type Sections = {
  readonly litellm_settings: Fields
  readonly router_settings: Fields
  readonly general_settings: Fields
}

/** Reads retries, cooldowns, `drop_params` and the retention of usage. `router_settings` takes precedence. */
export function readOperation(sections: Sections, notes: Notes): ImportedOperation {
  const sources = new Map<string, string>()
  const retries = find(sections, 'num_retries')
  const attempts = retries && amountIn(retries, notes)
  if (retries && attempts !== undefined) sources.set('retries', retries.path)
  if (retries && attempts !== undefined && attempts > maxAttempts)
    notes.add(retries.path, `Weir tries at most ${maxAttempts} times again.`)
  const breaker = readBreaker(sections, sources, notes)
  const drop = isTrue(sections.litellm_settings.drop_params)
  if (drop) sources.set('unsupported_parameters', 'litellm_settings.drop_params')
  const retention = readRetention(sections.general_settings, sources, notes)
  return {
    settings: {
      ...(attempts !== undefined && { retries: { attempts: Math.min(maxAttempts, Math.round(attempts)) } }),
      ...(breaker && { breaker }),
      ...(drop && { unsupported_parameters: 'drop' as const }),
      ...(retention !== undefined && { retention: { usage: retention } }),
    },
    sources,
  }
}

const maxAttempts = 10

type Found = { readonly value: unknown; readonly path: string }

/** The setting in `router_settings`, else in `litellm_settings`. */
function find({ router_settings, litellm_settings }: Sections, name: string): Found | undefined {
  for (const [section, fields] of Object.entries({ router_settings, litellm_settings }))
    if (fields[name] !== undefined && fields[name] !== null)
      return { value: fields[name], path: problemPath(section, name) }
  return undefined
}

function amountIn({ value, path }: Found, notes: Notes): number | undefined {
  const amount = amountOf(value)
  if (amount === undefined) notes.add(path, 'It is not a number of at least 0.')
  return amount
}

/** LiteLLM allows so many failures a minute; the circuit of Weir opens at so many in a row. */
function readBreaker(
  sections: Sections,
  sources: Map<string, string>,
  notes: Notes,
): OperationSettings['breaker'] | undefined {
  const allowed = find(sections, 'allowed_fails')
  const time = find(sections, 'cooldown_time')
  const fails = allowed && amountIn(allowed, notes)
  const cooldown = time && durationOf(time.value)
  if (time && cooldown === undefined) notes.add(time.path, 'The cooldown must be longer than 0 seconds.')
  const used = [...(fails === undefined ? [] : [allowed]), ...(cooldown === undefined ? [] : [time])]
  if (used.length === 0) return undefined
  sources.set('breaker', used.map((found) => found?.path).join(', '))
  return {
    ...(fails !== undefined && { failures: Math.min(maxFailures, Math.floor(fails) + 1) }),
    ...(cooldown !== undefined && { cooldown }),
  }
}

const maxFailures = 1_000_000

function readRetention(general: Fields, sources: Map<string, string>, notes: Notes): string | undefined {
  const name = 'maximum_spend_logs_retention_period'
  const value = general[name]
  if (value === undefined || value === null) return undefined
  const path = `general_settings.${name}`
  if (typeof value === 'string' && parseDuration(value) !== undefined) {
    sources.set('retention', path)
    return value
  }
  notes.add(path, 'It is not a duration such as 30d.')
  return undefined
}
