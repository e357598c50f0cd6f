import type { LoadedSettings } from '../../config/load.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import type { Runtime } from '../../server/runtime.ts'
import { logWarnings } from '../log.ts'
import { settingsChanges } from './settings-changes.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reloads the settings on SIGHUP. Invalid settings change nothing and are logged. A new address or certificate takes
 * effect at the next start.
 */
export function reloadOnSignal(
  runtime: Runtime,
  load: () => LoadedSettings,
  environment: Environment,
  log: Log,
): void {
  onReloadSignal(async () => {
    const loaded = load()
    const { settings, file } = loaded
    const { settings: earlier } = runtime.configuration()
    await runtime.reload({ settings, file, environment })
    logReload({ settings: earlier }, loaded, log)
  }, log)
}

/** Calls `reload` for each SIGHUP; if it rejects, the settings are unchanged, and the reason is logged. */
export function onReloadSignal(reload: () => Promise<void>, log: Log): void {
  let lastReload = Promise.resolve()

  async function tryReload(): Promise<void> {
    try {
      await reload()
    } catch (error) {
      log.error('The settings could not be reloaded and are unchanged.', { cause: causeOf(error) })
    }
  }

  // Sequentially, so that the later of two signals wins.
  process.on('SIGHUP', () => void (lastReload = lastReload.then(tryReload)))
}

/** Logs which settings have changed, and warnings about them. */
export function logReload(
  before: Pick<LoadedSettings, 'settings'>,
  { settings, file, warnings }: LoadedSettings,
  log: Log,
): void {
  const { applied, atNextStart } = settingsChanges(before.settings, settings)
  logWarnings(warnings, log)
  log.info('The settings were reloaded.', {
    file,
    changed: applied.join(', ') || 'nothing',
    at_next_start: atNextStart.length > 0 ? atNextStart.join(', ') : undefined,
  })
}
