import type { SettingsProblem } from '../../config/problem.ts'
import type { ProviderSettings } from '../../config/provider-settings.ts'
import { Secret } from '../../lib/secret.ts'
import type { RemoteKind } from '../provider.ts'

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One entry of `providers` in the settings, with its name, its path and the environment. */
export type ProviderConfigInput = {
  readonly name: string
  readonly entry: ProviderSettings
  readonly path: string
  readonly environment: Environment
}

/** The key of a provider, and its source as a path for problems. */
type FoundKey = { readonly key: Secret; readonly path: string }

/** The key of the settings, or else of a variable of its kind. */
export function findKey(
  { entry, path, environment }: ProviderConfigInput,
  kind: RemoteKind,
): FoundKey | undefined {
  if (entry.api_key === undefined) return keyFromEnvironment(kind, environment)
  return { key: new Secret(entry.api_key.trim()), path: `${path}.api_key` }
}

/** The key in the first variable of the kind that is set; undefined where none is. */
export function keyFromEnvironment(kind: RemoteKind, environment: Environment): FoundKey | undefined {
  for (const variable of kind.keyVariables) {
    const text = environment[variable]?.trim()
    if (text) return { key: new Secret(text), path: variable }
  }
  return undefined
}

/** The problem of a key that cannot be sent in a header, or that is not one of a provider. */
export function keyProblems(found: FoundKey | undefined): SettingsProblem[] {
  if (found === undefined) return []
  const key = found.key.reveal()
  if (key.startsWith('sk-weir-')) return [{ path: found.path, message: weirKeyMessage }]
  if (/^[\x21-\x7e]+$/.test(key)) return []
  return [{ path: found.path, message: 'must contain only printable ASCII characters and no spaces.' }]
}

const weirKeyMessage =
  'is an API key of Weir, which is for clients of Weir. Set the API key that the provider issued.'

/** The sentence that says how to set the key of the provider. */
export function missingKey(path: string, { keyVariables, googleCloud }: RemoteKind): string {
  if (googleCloud) return `Set credentials or api_key of ${path} in weir.yaml.`
  const [variable] = keyVariables
  return variable === undefined
    ? `Set api_key of ${path} in weir.yaml.`
    : `Set ${variable}, or api_key of ${path} in weir.yaml.`
}
