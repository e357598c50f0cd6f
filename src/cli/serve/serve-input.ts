import type { LoadedSettings } from '../../config/load.ts'
import type { SettingsFlags } from '../../config/paths.ts'
import type { ServeOutput } from './output.ts'

/** What `weir serve` was started with. */
export type ServeInput = {
  readonly loaded: LoadedSettings
  /** Loads the settings again. */
  readonly load: () => LoadedSettings
  readonly flags: SettingsFlags & { readonly json?: boolean | undefined }
  readonly drainMs: number
  readonly output: ServeOutput
}
