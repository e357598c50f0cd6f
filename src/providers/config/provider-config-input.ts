import type { ProviderSettings } from '../../config/settings.ts'

/** One entry of `providers` in the settings, and what is around it. */
export type ProviderConfigInput = {
  readonly name: string
  readonly entry: ProviderSettings
  readonly path: string
  readonly environment: Readonly<Record<string, string | undefined>>
}
