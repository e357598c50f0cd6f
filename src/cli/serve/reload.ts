import type { LoadedSettings } from '../../config/load.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import type { Runtime } from '../../server/runtime.ts'
import { logWarnings } from '../log.ts'
import { settingsChanges } from './settings-changes.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * On SIGHUP reads the settings anew and puts them in force; bad ones change nothing and are reported. The address
 * and the certificate stay those of the start.
 */
export function reloadOnSignal(
  runtime: Runtime,
  load: () => LoadedSettings,
  environment: Environment,
  log: Log,
): void {
  let last = Promise.resolve()

  async function reload(): Promise<void> {
    try {
      const { settings, file, warnings } = load()
      const { applied: inForce, atNextStart: later } = settingsChanges(
        runtime.configuration().settings,
        settings,
      )
      await runtime.reload({ settings, file, environment })
      logWarnings(warnings, log)
      log.info('The settings were read anew.', {
        file,
        changed: inForce.join(', ') || 'nothing',
        at_next_start: later.length > 0 ? later.join(', ') : undefined,
      })
    } catch (error) {
      log.error('The settings were not changed.', { cause: causeOf(error) })
    }
  }

  // One after the other: of two signals the later one must win.
  process.on('SIGHUP', () => void (last = last.then(reload)))
}
