import { catalog } from '../config/catalog.ts'
import { type LoadedSettings, loadSettings } from '../config/load.ts'
import { SettingsError, type SettingsProblem } from '../config/problem.ts'
import { createModels, type RegisteredModels } from '../gateway/models/models.ts'
import { configureProviders, type ProviderSet } from '../providers/configure.ts'
import { type CheckReport, type CheckedProvider, reportText } from './check-report.ts'
import { type Command, commonFlagsHelp, parseFlags, type World } from './command.ts'
import { jsonText } from './output.ts'

const usage = `Usage
  weir check [--json]

Reads the settings as “weir serve” would and says what is wrong and where, which providers
have keys, how many models are on, and why a model that the settings name is off.
Asks no provider anything. Exit code 0: nothing is wrong; 1: something is.

Examples
  weir check
  weir check --config /etc/weir/weir.yaml

${commonFlagsHelp}`

/** `weir check`. */
export const check: Command = {
  name: 'check',
  summary: 'say what is wrong with the settings, and which providers have keys',
  usage,
  async run(args, world) {
    const { flags } = parseFlags(args, { command: 'check', flags: {} })
    const report = examine(flags, world)
    world.out(flags.json ? jsonText(report) : reportText(report))
    if (report.ok) return 0
    world.err(`${report.problems.length} ${report.problems.length === 1 ? 'problem' : 'problems'} found.`)
    return 1
  },
}

function examine(flags: { readonly config?: string; readonly data?: string }, world: World): CheckReport {
  try {
    return reportOf(loadSettings({ flags, ...world }), world)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { ok: false, file: error.file, problems: error.problems }
  }
}

function reportOf({ settings, file, dataFolder }: LoadedSettings, world: World): CheckReport {
  const providers = configureProviders(settings, world.environment)
  const models = createModels({
    catalog: catalog.models,
    settings: settings.models,
    providers,
    discovered: new Map(),
    firstSeen: () => 0,
  })
  const problems: readonly SettingsProblem[] = [...providers.problems, ...models.problems]
  return {
    ok: problems.length === 0,
    file,
    data_folder: dataFolder,
    problems,
    providers: checkedProviders(providers, settings.providers),
    models: {
      on: models.enabled.length,
      off: models.all.length - models.enabled.length,
      without_service: settings.models.flatMap(({ slug }) => withoutService(slug, models)),
    },
  }
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
    key: key !== undefined || ('wire' in kind && carriesKey(kind.authorize(''), headers)),
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

function withoutService(slug: string, models: RegisteredModels) {
  const model = models.find(slug)
  const reason = model?.disabled ?? model?.keyMissing
  return reason === undefined ? [] : [{ slug, reason }]
}
