import { dataFolderProblem, tlsProblems, tlsWarnings } from '../../config/file-problems.ts'
import type { LoadedSettings } from '../../config/load.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import { collectorUrl } from '../../observability/traces/tracing.ts'
import { databaseLocation, databaseName, lockName } from '../../storage/database-location.ts'
import { checkDatabase } from '../../storage/open-database.ts'
import { parseBootstrapKey } from '../../storage/bootstrap-key.ts'
import type { CliContext } from '../context.ts'
import { hostProblem } from '../serve/listen.ts'
import { workersProblem } from '../serve/workers/worker-count.ts'

/** Returns what on this machine or in its environment would stop `weir serve` from starting. Changes nothing. */
export async function machineProblems(
  loaded: LoadedSettings,
  { environment }: CliContext,
): Promise<SettingsProblem[]> {
  const bootstrapKey = environment.WEIR_BOOTSTRAP_KEY
  const { host, tls } = loaded.settings
  return [
    ...problemOf(environment.WEIR_HOST ? 'WEIR_HOST' : 'host', hostProblem(host)),
    ...problemOf(environment.WEIR_WORKERS ? 'WEIR_WORKERS' : 'workers', workersProblem(loaded.settings)),
    ...(tls ? tlsProblems(tls) : []),
    ...(await databaseProblems(loaded)),
    ...problemOf(
      'WEIR_BOOTSTRAP_KEY',
      bootstrapKey ? await errorMessageOf(() => parseBootstrapKey(bootstrapKey)) : undefined,
    ),
    ...problemOf('trace collector', await errorMessageOf(() => collectorUrl(environment))),
  ]
}

async function databaseProblems(loaded: LoadedSettings): Promise<SettingsProblem[]> {
  const isFile = loaded.settings.database === undefined
  const folderProblem = isFile ? dataFolderProblem(loaded.dataFolder, [databaseName, lockName]) : undefined
  const problem = folderProblem ?? (await errorMessageOf(() => checkDatabase(databaseLocation(loaded))))
  return problemOf(isFile ? 'data folder' : 'database', problem)
}

/** Returns what `weir serve` accepts but probably is a mistake, such as an expired certificate. */
export function machineWarnings({ settings: { tls } }: LoadedSettings): SettingsProblem[] {
  return tls && tlsProblems(tls).length === 0 ? tlsWarnings(tls) : []
}

function problemOf(path: string, message: string | undefined): SettingsProblem[] {
  return message === undefined ? [] : [{ path, message }]
}

async function errorMessageOf(check: () => unknown): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
