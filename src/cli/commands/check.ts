import { dataFolderProblem, fullDiskProblem, tlsProblems, tlsWarnings } from '../../config/file-problems.ts'
import type { LoadedSettings } from '../../config/load.ts'
import { inFileOrder, SettingsError, type SettingsProblem } from '../../config/problem.ts'
import { locateProblems } from '../../config/read-settings-file.ts'
import { loadAllSettings } from '../../gateway/configuration.ts'
import { webhookProblems } from '../../gateway/webhooks/endpoints.ts'
import { configureProviders, type ProviderSet } from '../../providers/config/configure-providers.ts'
import { providerWarnings } from '../../providers/config/provider-warnings.ts'
import { collectorUrl } from '../../observability/traces/tracing.ts'
import { parseBootstrapKey } from '../../storage/bootstrap-key.ts'
import { databaseLocation, databaseName, locationLabel, lockName } from '../../storage/database-location.ts'
import { checkDatabase } from '../../storage/open-database.ts'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import { reportOnModels, usedProviders } from '../check/models.ts'
import { checkProviders } from '../check/online.ts'
import { type CheckReport, type ProviderReport, reportText } from '../check/report.ts'
import type { CliContext } from '../context.ts'
import { currentModels } from '../current-models.ts'
import { failureJson } from '../errors.ts'
import type { DatabaseFlags } from '../storage.ts'
import { hostProblem } from '../serve/listen.ts'
import { workersProblem } from '../serve/workers/worker-count.ts'

const usage = `Usage
  weir check [--online] [--json]

Validates the settings in the same way as “weir serve”, and reports each problem and where it is,
which providers have API keys, how many models are enabled, and why a model of the settings is
disabled. It also checks the host, the TLS files, and whether the data folder or the database can be
written, but not whether the port is free. The exit code is 0 if there are no problems, and 1
otherwise. Warnings are not problems.

Flags
  --online       also request the model list of each provider. This shows whether the provider is
                 reachable, accepts the API key and lists the models routed to it, and which
                 base_url works if the configured one does not. Discovered models are then counted
                 as well. Without this flag, no provider is contacted.

Examples
  weir check
  weir check --online
  weir check --config /etc/weir/weir.yaml

${commonFlagsHelp}`

/** `weir check`. */
export const command: Command = {
  usage,
  run: subcommand('check', { flags: { online: 'switch' } }, async ({ flags, context, print }) => {
    const report = await createReport(flags, context)
    print(report, reportText(report))
    if (report.ok) return 0
    const failed = report.online?.filter(({ ok }) => ok === false).length ?? 0
    const parts = [
      ...countText(report.problems.length, 'problem', 'found'),
      ...countText(failed, 'provider', 'failed'),
    ]
    const message = `${parts.join(', ')}.`
    context.err(flags.json ? failureJson({ message, code: 'check_failed' }) : message)
    return 1
  }),
}

function countText(count: number, noun: string, verb: string): string[] {
  return count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'} ${verb}`]
}

type CheckFlags = DatabaseFlags & { readonly online?: boolean }

async function createReport(flags: CheckFlags, context: CliContext): Promise<CheckReport> {
  try {
    return await reportOnSettings(loadAllSettings({ flags, ...context }), flags, context)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { ok: false, file: error.file, problems: error.problems }
  }
}

async function reportOnSettings(
  loaded: LoadedSettings,
  flags: CheckFlags,
  context: CliContext,
): Promise<CheckReport> {
  const { settings, file, dataFolder } = loaded
  const providers = configureProviders(settings, context.environment)
  const models = await currentModels(loaded, context, { discover: flags.online === true })
  const configured = usedProviders(settings, providers, models)
  const inSettings = [...providers.problems, ...models.problems, ...webhookProblems(settings)]
  const found = [...(await machineProblems(loaded, context)), ...inSettings]
  const problems = inFileOrder(locateProblems(found, file))
  const online = flags.online ? await checkProviders(configured, models, context, flags.json) : undefined
  return {
    ok: problems.length === 0 && online?.some(({ ok }) => ok === false) !== true,
    file,
    ...(settings.database === undefined
      ? { data_folder: dataFolder }
      : { database: locationLabel(databaseLocation(loaded)) }),
    problems,
    warnings: [
      ...loaded.warnings,
      ...machineWarnings(loaded),
      ...providerWarnings(providers.configured.values()),
    ],
    providers: providerReports(providers, settings.providers),
    models: reportOnModels({ settings, configured, models, online: flags.online === true }),
    ...(online && { online: online }),
  }
}

/** Reports the configured providers, then those whose configuration is incomplete. */
function providerReports(
  { configured, missing }: ProviderSet,
  settings: LoadedSettings['settings']['providers'],
): ProviderReport[] {
  const usableProviders = [...configured.values()].map(({ name, kind, baseUrl, key, headers }) => ({
    name,
    kind: kind.name,
    base_url: baseUrl === '' ? null : baseUrl,
    key: key !== undefined || ('protocol' in kind && hasKeyHeader(kind.authorize(''), headers)),
    missing: null,
  }))
  const unusableProviders = Object.entries(settings).flatMap(([name, entry]) => {
    const reason = missing.get(name)
    if (reason === undefined) return []
    const base_url = entry.base_url ?? null
    return [{ name, kind: entry.kind ?? name, base_url, key: false, missing: reason }]
  })
  return [...usableProviders, ...unusableProviders]
}

function hasKeyHeader(keyHeaders: object, headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(keyHeaders).some((name) => Object.hasOwn(headers, name.toLowerCase()))
}

/** Returns what on this machine or in its environment would stop `weir serve` from starting. Changes nothing. */
async function machineProblems(
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
  const { settings, dataFolder } = loaded
  const isFile = settings.database === undefined
  const folderProblem = isFile
    ? (dataFolderProblem(dataFolder, [databaseName, lockName]) ?? fullDiskProblem(dataFolder))
    : undefined
  const problem = folderProblem ?? (await errorMessageOf(() => checkDatabase(databaseLocation(loaded))))
  return problemOf(isFile ? 'data folder' : 'database', problem)
}

/** Returns what `weir serve` accepts but probably is a mistake, such as an expired certificate. */
function machineWarnings({ settings: { tls } }: LoadedSettings): SettingsProblem[] {
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
