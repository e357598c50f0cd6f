import type { LoadedSettings } from '../config/load.ts'
import { causeOf, type Log } from '../lib/log.ts'
import type { Runtime } from '../runtime.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * On SIGHUP reads the settings anew and puts them in force; bad ones change nothing and are reported. The address
 * and the certificate stay those of the start.
 */
export function reloadWhenTold(
  runtime: Runtime,
  load: () => LoadedSettings,
  environment: Environment,
  log: Log,
): void {
  let last = Promise.resolve()

  async function reload(): Promise<void> {
    try {
      const { settings, file } = load()
      await runtime.reload({ settings, file, environment })
      log.info('The settings were read anew.', { file })
    } catch (error) {
      log.error('The settings were not changed.', { cause: causeOf(error) })
    }
  }

  // One after the other: of two signals the later one must win.
  process.on('SIGHUP', () => void (last = last.then(reload)))
}
