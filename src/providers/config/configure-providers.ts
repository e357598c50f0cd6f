import { problemPath, type SettingsProblem } from '../../config/problem.ts'
import type { Settings } from '../../config/settings.ts'
import { kinds } from '../kinds/kinds.ts'
import type { Kind, Provider } from '../provider.ts'
import { type ConfigOutcome, configureProvider } from './provider-config.ts'
import { type Environment, keyFromEnvironment, missingKey } from './provider-entry.ts'

/** The configured providers, and what the others need. */
export type ProviderSet = {
  readonly configured: ReadonlyMap<string, Provider>
  /** The sentence that says what to set, by the name of the provider. */
  readonly missing: ReadonlyMap<string, string>
  readonly problems: readonly SettingsProblem[]
}

const defaultKind = 'echo'

/** Configures the providers of the settings, and every kind whose key variable is set. */
export function configureProviders(
  settings: Pick<Settings, 'providers'>,
  environment: Environment,
): ProviderSet {
  const outcomes = new Map<string, ConfigOutcome>()
  for (const [name, entry] of Object.entries(settings.providers))
    outcomes.set(name, configureProvider({ name, entry, path: problemPath('providers', name), environment }))
  for (const kind of Object.values(kinds))
    if (!outcomes.has(kind.name)) outcomes.set(kind.name, fromEnvironment(kind, environment))
  addDefault(outcomes, environment)
  return collect(outcomes)
}

/** The provider of a kind that is not in the settings, which needs a key in the environment. */
function fromEnvironment(kind: Kind, environment: Environment): ConfigOutcome {
  const { name } = kind
  const path = `providers.${name}`
  if (!('protocol' in kind) || kind.keyless === true) return { missing: `Add ${path} to weir.yaml.` }
  if (kind.baseUrl === undefined)
    return { missing: `Add ${path} with its base_url and api_key to weir.yaml.` }
  if (keyFromEnvironment(kind, environment) === undefined) return { missing: missingKey(path, kind) }
  return configureProvider({ name, entry: {}, path, environment })
}

/** Adds the built-in provider where there is no other, so that a first call works without a key. */
function addDefault(outcomes: Map<string, ConfigOutcome>, environment: Environment): void {
  const isEmpty = [...outcomes.values()].every(({ provider }) => provider === undefined)
  if (!isEmpty || !Object.hasOwn(kinds, defaultKind) || outcomes.get(defaultKind)?.problems) return
  const input = { name: defaultKind, entry: {}, path: `providers.${defaultKind}`, environment }
  outcomes.set(defaultKind, configureProvider(input))
}

function collect(outcomes: ReadonlyMap<string, ConfigOutcome>): ProviderSet {
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

/**
 * The engines of this machine that need no configuration: Ollama at its default port or at `OLLAMA_HOST`, unless the
 * settings configure an Ollama provider. They may not be running.
 */
export function localEngines(
  { providers }: Pick<Settings, 'providers'>,
  environment: Environment,
): Provider[] {
  if (Object.entries(providers).some(([name, { kind = name }]) => kind === 'ollama')) return []
  const address = loopbackAddress(environment.OLLAMA_HOST?.trim() || '127.0.0.1')
  if (address === undefined) return []
  const entry = { base_url: `${address}/v1`, discover: true }
  const { provider } = configureProvider({ name: 'ollama', entry, path: 'providers.ollama', environment })
  return provider ? [provider] : []
}

const defaultPort = '11434'

/** `OLLAMA_HOST` is a host, a colon and a port, both, or a URL; a server that listens on all addresses is local too. */
function loopbackAddress(host: string): string | undefined {
  const withHost = host.startsWith(':') ? `127.0.0.1${host}` : host
  const url = URL.parse(withHost.includes('://') ? withHost : `http://${withHost}`)
  if (url === null) return undefined
  const hostname = ['0.0.0.0', '[::]'].includes(url.hostname) ? '127.0.0.1' : url.hostname
  if (!/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return undefined
  return `${url.protocol}//${hostname}:${url.port || defaultPort}`
}
