import type { ProviderSettings } from '../../config/provider-settings.ts'

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One entry of `providers` in the settings, with its name, its path and the environment. */
export type ProviderConfigInput = {
  readonly name: string
  readonly entry: ProviderSettings
  readonly path: string
  readonly environment: Environment
}
