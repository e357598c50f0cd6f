import { problemPath } from '../../config/problem-path.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import type { Settings } from '../../config/settings.ts'
import { configureProvider, type Outcome } from './provider-config.ts'
import { kinds } from '../kinds/kinds.ts'
import { keyFromEnvironment, missingKey } from './key.ts'
import type { Kind, Provider } from '../provider.ts'

/** The providers that can be asked, and what would bring in the others. */
export type ProviderSet = {
  readonly configured: ReadonlyMap<string, Provider>
  /** By name, a sentence that says what to set. */
  readonly missing: ReadonlyMap<string, string>
  readonly problems: readonly SettingsProblem[]
}

/** The name of the kind that answers inside this process. */
const builtIn = 'echo'

type Environment = Readonly<Record<string, string | undefined>>

/** The providers of the settings, and every kind whose usual key variable is set. */
export function configureProviders(
  settings: Pick<Settings, 'providers'>,
  environment: Environment,
): ProviderSet {
  const outcomes = new Map<string, Outcome>()
  for (const [name, entry] of Object.entries(settings.providers))
    outcomes.set(name, configureProvider({ name, entry, path: problemPath('providers', name), environment }))
  for (const kind of Object.values(kinds))
    if (!outcomes.has(kind.name)) outcomes.set(kind.name, unmentioned(kind, environment))
  addBuiltIn(outcomes, environment)
  return collect(outcomes)
}

/** A kind that the settings do not name is there only by its key. */
function unmentioned(kind: Kind, environment: Environment): Outcome {
  const { name } = kind
  const path = `providers.${name}`
  if (!('protocol' in kind) || kind.keyless === true) return { missing: `Add ${path} to weir.yaml.` }
  if (kind.baseUrl === undefined)
    return { missing: `Add ${path} with its base_url and api_key to weir.yaml.` }
  if (keyFromEnvironment(kind, environment) === undefined) return { missing: missingKey(path, kind) }
  return configureProvider({ name, entry: {}, path, environment })
}

/** Without any other provider the one inside answers, so that a first call works without a key. */
function addBuiltIn(outcomes: Map<string, Outcome>, environment: Environment): void {
  const alone = [...outcomes.values()].every(({ provider }) => provider === undefined)
  if (!alone || !Object.hasOwn(kinds, builtIn) || outcomes.get(builtIn)?.problems) return
  const place = { name: builtIn, entry: {}, path: `providers.${builtIn}`, environment }
  outcomes.set(builtIn, configureProvider(place))
}

function collect(outcomes: ReadonlyMap<string, Outcome>): ProviderSet {
  const configured = new Map<string, Provider>()
  const missing = new Map<string, string>()
  const problems: SettingsProblem[] = []
  for (const [name, outcome] of outcomes) {
    if (outcome.provider) configured.set(name, outcome.provider)
    if (outcome.missing) missing.set(name, outcome.missing)
    problems.push(...(outcome.problems ?? []))
  }
  return { configured, missing, problems }
}
