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
    const changed = logReload({ settings: earlier }, loaded, log)
    await recordReload(changed, runtime.process.recordReload, log)
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

/** Records a reload that has changed something. It is in effect even if the database is not available. */
export async function recordReload(
  changed: readonly string[],
  record: Runtime['process']['recordReload'],
  log: Log,
): Promise<void> {
  try {
    if (changed.length > 0) await record(changed)
  } catch (error) {
    log.error('The reload could not be written to the audit log.', { cause: causeOf(error) })
  }
}

/** Logs which settings have changed, and warnings about them; returns the names of all that have. */
export function logReload(
  before: Pick<LoadedSettings, 'settings'>,
  { settings, file, warnings }: LoadedSettings,
  log: Log,
): readonly string[] {
  const { applied, atNextStart } = settingsChanges(before.settings, settings)
  logWarnings(warnings, log)
  log.info('The settings were reloaded.', {
    file,
    changed: applied.join(', ') || 'nothing',
    at_next_start: atNextStart.length > 0 ? atNextStart.join(', ') : undefined,
  })
  return [...applied, ...atNextStart]
}
