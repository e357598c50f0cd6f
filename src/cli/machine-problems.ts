import { join } from 'node:path'
import { dataFolderFault } from '../config/data-folder.ts'
import type { LoadedSettings } from '../config/load.ts'
import type { SettingsProblem } from '../config/problem.ts'
import { tlsProblems, tlsWarnings } from '../config/tls-files.ts'
import { checkedCollector } from '../observability/traces/tracing.ts'
import { parseBootstrapKey } from '../storage/sqlite/keys/bootstrap.ts'
import { databaseName } from '../storage/sqlite/connection/database.ts'
import { databaseVersion } from '../storage/sqlite/connection/existing-database.ts'
import { lockName } from '../storage/sqlite/connection/serving-lock.ts'
import type { CliContext } from './args.ts'
import { hostFault } from './listen-error.ts'

/** What of this machine and of the environment would keep `weir serve` from starting. It changes nothing. */
export function machineProblems(
  { settings, dataFolder }: LoadedSettings,
  world: CliContext,
): SettingsProblem[] {
  const { environment } = world
  const bootstrapKey = environment.WEIR_BOOTSTRAP_KEY
  const { host, tls } = settings
  const folder = dataFolderFault(dataFolder, [databaseName, lockName])
  return [
    ...problemOf(environment.WEIR_HOST ? 'WEIR_HOST' : 'host', hostFault(host)),
    ...(tls ? tlsProblems(tls) : []),
    ...problemOf('data folder', folder ?? thrownBy(() => databaseVersion(join(dataFolder, databaseName)))),
    ...problemOf(
      'WEIR_BOOTSTRAP_KEY',
      bootstrapKey ? thrownBy(() => parseBootstrapKey(bootstrapKey)) : undefined,
    ),
    ...problemOf(
      'trace collector',
      thrownBy(() => checkedCollector(environment)),
    ),
  ]
}

/** What would be served but is probably not what was meant. */
export function machineWarnings({ settings: { tls } }: LoadedSettings): SettingsProblem[] {
  return tls && tlsProblems(tls).length === 0 ? tlsWarnings(tls) : []
}

function problemOf(path: string, message: string | undefined): SettingsProblem[] {
  return message === undefined ? [] : [{ path, message }]
}

function thrownBy(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
