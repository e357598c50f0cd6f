import { join } from 'node:path'
import { dataFolderProblem, tlsProblems, tlsWarnings } from '../../config/file-problems.ts'
import type { LoadedSettings } from '../../config/load.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import { Secret } from '../../lib/secret.ts'
import { collectorUrl } from '../../observability/traces/tracing.ts'
import { databaseName } from '../../storage/sqlite/connection/database.ts'
import { databaseVersion } from '../../storage/sqlite/connection/existing-database.ts'
import { lockName } from '../../storage/sqlite/connection/serving-lock.ts'
import { parseBootstrapKey } from '../../storage/common/bootstrap-key.ts'
import type { CliContext } from '../context.ts'
import { hostProblem } from '../serve/listen.ts'
import { workersProblem } from '../serve/workers/worker-count.ts'

/** Returns what on this machine or in its environment would stop `weir serve` from starting. Changes nothing. */
export function machineProblems(
  { settings, dataFolder }: LoadedSettings,
  { environment }: CliContext,
): SettingsProblem[] {
  const bootstrapKey = environment.WEIR_BOOTSTRAP_KEY
  const { host, tls } = settings
  return [
    ...problemOf(environment.WEIR_HOST ? 'WEIR_HOST' : 'host', hostProblem(host)),
    ...problemOf(environment.WEIR_WORKERS ? 'WEIR_WORKERS' : 'workers', workersProblem(settings)),
    ...(tls ? tlsProblems(tls) : []),
    ...(settings.database === undefined ? problemOf('data folder', dataProblem(dataFolder)) : []),
    ...problemOf(
      'WEIR_BOOTSTRAP_KEY',
      bootstrapKey ? errorMessageOf(() => parseBootstrapKey(bootstrapKey)) : undefined,
    ),
    ...problemOf(
      'trace collector',
      errorMessageOf(() => collectorUrl(environment)),
    ),
  ]
}

function dataProblem(dataFolder: string): string | undefined {
  return (
    dataFolderProblem(dataFolder, [databaseName, lockName]) ??
    errorMessageOf(() => databaseVersion(join(dataFolder, databaseName)))
  )
}

/** Returns what of the PostgreSQL database would stop `weir serve` from starting. Changes nothing. */
export async function databaseProblems({
  settings: { database },
}: LoadedSettings): Promise<SettingsProblem[]> {
  if (database === undefined) return []
  const { checkPostgres } = await import('../../storage/postgres/connection/existing-database.ts')
  try {
    await checkPostgres(new Secret(database))
    return []
  } catch (error) {
    return problemOf('database', error instanceof Error ? error.message : String(error))
  }
}

/** Returns what `weir serve` accepts but probably is a mistake, such as an expired certificate. */
export function machineWarnings({ settings: { tls } }: LoadedSettings): SettingsProblem[] {
  return tls && tlsProblems(tls).length === 0 ? tlsWarnings(tls) : []
}

function problemOf(path: string, message: string | undefined): SettingsProblem[] {
  return message === undefined ? [] : [{ path, message }]
}

function errorMessageOf(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
