import { type LoadedSettings, loadSettings } from '../../config/load.ts'
import { SettingsError, type SettingsProblem } from '../../config/problem.ts'
import type { Settings } from '../../config/settings.ts'
import { createModelRegistry } from '../../gateway/models/model-registry.ts'
import type { Models } from '../../gateway/models/model.ts'
import type { RegisteredModels } from '../../gateway/models/models.ts'
import type { Log } from '../../lib/log.ts'
import { baseAddressWarnings } from '../../providers/config/base-address.ts'
import { configureProviders, type ProviderSet } from '../../providers/config/configure-providers.ts'
import { localEngines } from '../../providers/config/local-engines.ts'
import type { Provider } from '../../providers/provider.ts'
import { askProviders } from '../check-online.ts'
import { type CheckReport, type CheckedProvider, reportText } from '../check-report.ts'
import { failureJson } from '../failure.ts'
import { type Command, commonFlagsHelp, parseFlags, type CliContext } from '../args.ts'
import { machineProblems, machineWarnings } from '../machine-problems.ts'
import { jsonText } from '../output.ts'

const usage = `Usage
  weir check [--online] [--json]

Reads the settings as “weir serve” would and says what is wrong and where, which providers
have keys, how many models are on, and why a model that the settings name is off. The host, the
files of tls and the data folder are checked, too; whether the port is free is not.
Exit code 0: nothing is wrong; 1: something is. A warning is not an error.

Flags
  --online       also asks each provider for the list of its models: does it answer, does it
                 take the key, does it know the models whose routes lead to it, and at which
                 address does it answer where base_url is wrong? Models that providers list are
                 counted, as “weir serve” would. Without this flag nobody is asked anything.

Examples
  weir check
  weir check --online
  weir check --config /etc/weir/weir.yaml

${commonFlagsHelp}`

/** `weir check`. */
export const check: Command = {
  name: 'check',
  summary: 'say what is wrong with the settings, and which providers have keys',
  usage,
  async run(args, world) {
    const { flags } = parseFlags(args, { command: 'check', flags: { online: 'switch' } })
    const report = await examine(flags, world)
    world.out(flags.json ? jsonText(report) : reportText(report))
    if (report.ok) return 0
    const failed = report.online?.filter(({ ok }) => ok === false).length ?? 0
    const parts = [
      ...counted(report.problems.length, 'problem', 'found'),
      ...counted(failed, 'provider', 'failed'),
    ]
    const message = `${parts.join(', ')}.`
    world.err(flags.json ? failureJson({ message, code: 'check_failed' }) : message)
    return 1
  },
}

function counted(count: number, thing: string, claim: string): string[] {
  return count === 0 ? [] : [`${count} ${thing}${count === 1 ? '' : 's'} ${claim}`]
}

type CheckFlags = {
  readonly config?: string
  readonly data?: string
  readonly online?: boolean
  readonly json?: boolean
}

async function examine(flags: CheckFlags, world: CliContext): Promise<CheckReport> {
  try {
    return await reportOf(loadSettings({ flags, ...world }), flags, world)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { ok: false, file: error.file, problems: error.problems }
  }
}

async function reportOf(loaded: LoadedSettings, flags: CheckFlags, world: CliContext): Promise<CheckReport> {
  const { settings, file, dataFolder } = loaded
  const providers = configureProviders(settings, world.environment)
  const models = await checkedModels(settings, providers, flags.online === true, world)
  const problems: readonly SettingsProblem[] = [
    ...machineProblems(loaded, world),
    ...providers.problems,
    ...models.problems,
  ]
  const answers = flags.online
    ? await askProviders(providers.configured.values(), models, world, flags.json)
    : undefined
  return {
    ok: problems.length === 0 && answers?.some(({ ok }) => ok === false) !== true,
    file,
    data_folder: dataFolder,
    problems,
    warnings: [
      ...loaded.warnings,
      ...machineWarnings(loaded),
      ...baseAddressWarnings(providers.configured.values()),
    ],
    providers: checkedProviders(providers, settings.providers),
    models: {
      on: models.enabled.length,
      off: models.all.length - models.enabled.length,
      not_listed: flags.online ? [] : [...providers.configured.values()].flatMap(listsLater),
      without_service: settings.models.flatMap(({ slug }) => withoutService(slug, models)),
    },
    ...(answers && { online: answers }),
  }
}

/** The models that these settings give; `online` asks the providers for those that they list. */
async function checkedModels(
  settings: Settings,
  providers: ProviderSet,
  online: boolean,
  world: CliContext,
): Promise<RegisteredModels> {
  const engines = localEngines(settings, world.environment)
  const registry = createModelRegistry(settings.models, providers, silent, engines)
  if (online) {
    await registry.start()
    await registry.stop()
  }
  return registry.current()
}

/** What becomes of each provider is in the answers. */
const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }

function listsLater({ name, kind, discover }: Provider): string[] {
  return discover && 'protocol' in kind ? [name] : []
}

/** Those that can be asked, then those that the settings name in vain. */
function checkedProviders(
  { configured, missing }: ProviderSet,
  named: LoadedSettings['settings']['providers'],
): CheckedProvider[] {
  const usable = [...configured.values()].map(({ name, kind, baseUrl, key, headers }) => ({
    name,
    kind: kind.name,
    base_url: baseUrl === '' ? null : baseUrl,
    key: key !== undefined || ('protocol' in kind && carriesKey(kind.authorize(''), headers)),
    missing: null,
  }))
  const useless = Object.entries(named).flatMap(([name, entry]) => {
    const sentence = missing.get(name)
    if (sentence === undefined) return []
    const base_url = entry.base_url ?? null
    return [{ name, kind: entry.kind ?? name, base_url, key: false, missing: sentence }]
  })
  return [...usable, ...useless]
}

function carriesKey(keyHeaders: object, headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(keyHeaders).some((name) => Object.hasOwn(headers, name.toLowerCase()))
}

function withoutService(slug: string, models: Models) {
  const model = models.find(slug)
  const reason = model?.disabled ?? model?.keyMissing
  return reason === undefined ? [] : [{ slug, reason }]
}
