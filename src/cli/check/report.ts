import { problemLine, type SettingsProblem } from '../../config/problem.ts'
import { joinChoices } from '../../lib/validation/problem.ts'
import { remoteKind } from '../../providers/kinds/kinds.ts'
import { noListing } from '../../providers/model-listing.ts'
import { section, table } from '../output.ts'

/** The result of `weir check`; what depends on valid settings is absent if they are not valid. */
export type CheckReport = {
  readonly ok: boolean
  readonly file: string | null
  readonly data_folder?: string
  /** The host and the name of the PostgreSQL database; there is no data folder then. */
  readonly database?: string
  readonly problems: readonly SettingsProblem[]
  /** Settings that are accepted but probably a mistake. */
  readonly warnings?: readonly SettingsProblem[]
  readonly providers?: readonly ProviderReport[]
  readonly models?: ModelsReport
  /** The results of the requests to the providers, with `--online`. */
  readonly online?: readonly OnlineReport[]
}

/** The result of requesting the model list of a provider. */
export type OnlineReport = {
  readonly provider: string
  /** Null for a provider without a model list, which is not contacted. */
  readonly ok: boolean | null
  /** The number of listed models. */
  readonly models: number | null
  /** The slots of the engine, if its `concurrency` is not set or higher. */
  readonly slots?: number
  /** Why the list could not be read. */
  readonly error: string | null
  /** The base URL that has the list, if the configured one does not. */
  readonly working_base_url?: string
  /** The models routed to the provider that it does not list. */
  readonly unknown: readonly string[]
}

/** A provider of the settings or the environment. */
export type ProviderReport = {
  readonly name: string
  readonly kind: string
  /** Null for a built-in provider. */
  readonly base_url: string | null
  readonly key: boolean
  /** The missing setting without which the provider cannot be used, in a sentence; null if nothing is missing. */
  readonly missing: string | null
}

/** How many models are enabled and disabled, and why. */
export type ModelsReport = {
  readonly on: number
  readonly off: number
  /** The providers whose discovered models are not counted, without `--online`. */
  readonly not_listed: readonly string[]
  /** The configured providers without discovery of which no model is enabled. */
  readonly without_models: readonly string[]
  /** The models of the settings that cannot be served, each with the reason. */
  readonly without_service: readonly { readonly slug: string; readonly reason: string }[]
  /** The enabled models that their providers stop serving within three months, or have stopped to serve. */
  readonly ending: readonly { readonly slug: string; readonly shutdown_date: string }[]
  /** The day of the built-in catalog, and where updates of it came from, in sentences. */
  readonly catalog: string
}

/** Formats the report for the terminal. */
export function reportText(report: CheckReport): string {
  const location = report.database ?? report.data_folder
  const data = location === undefined ? [] : [`Data      ${location}`]
  return [
    `Settings  ${report.file ?? 'no file, only defaults and environment variables'}`,
    ...data,
    ...problemLines(report.problems),
    ...section('Warnings', (report.warnings ?? []).map(problemLine)),
    ...providerLines(report.providers ?? []),
    ...modelLines(report.models, report.providers),
    ...onlineLines(report.online ?? []),
  ].join('\n')
}

function problemLines(problems: readonly SettingsProblem[]): string[] {
  return problems.length === 0 ? ['', 'No problems.'] : section('Problems', problems.map(problemLine))
}

function providerLines(providers: readonly ProviderReport[]): string[] {
  if (providers.length === 0) return []
  const text = table(providers, [
    { title: 'PROVIDER', value: ({ name }) => name },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'BASE URL', value: ({ base_url }) => base_url ?? '-' },
    { title: 'KEY', value: ({ key }) => (key ? 'yes' : 'no') },
    { title: '', value: ({ missing }) => missing ?? '' },
  ])
  return ['', text]
}

function modelLines(
  models: ModelsReport | undefined,
  providers: readonly ProviderReport[] | undefined,
): string[] {
  if (models === undefined) return []
  const reasons = models.without_service.map(({ slug, reason }) => `${slug}: ${reason}`)
  return [
    '',
    `Models: ${models.on} enabled, ${models.off} disabled.`,
    models.catalog,
    ...notListedLines(models.not_listed),
    ...section(
      'Providers without models',
      models.without_models.map(
        (name) => `${name}: ${modelsAdvice(providers?.find((provider) => provider.name === name)?.kind)}`,
      ),
    ),
    ...section('Configured models that cannot be served', reasons),
    ...section(
      'Models that their providers stop serving',
      models.ending.map(({ slug, shutdown_date }) => `${shutdown_date}  ${slug}`),
    ),
  ]
}

function modelsAdvice(kind = ''): string {
  return remoteKind(kind)?.listing === noListing
    ? 'Name its models under models.'
    : 'Add “discover: true” to it, or name its models under models.'
}

function notListedLines(providers: readonly string[]): string[] {
  if (providers.length === 0) return []
  return [
    `Without the models of ${joinChoices(providers, 'and')}, which are discovered. To include them, use --online.`,
  ]
}

function onlineLines(reports: readonly OnlineReport[]): string[] {
  const slots = reports.flatMap(({ provider, slots }) =>
    slots === undefined ? [] : `${provider}: Set “concurrency: ${slots}”, and keys take turns for its slots.`,
  )
  const unknown = reports.flatMap(({ provider, unknown }) => unknown.map((model) => `${provider}: ${model}`))
  return [
    ...section('Model lists of the providers', reports.map(onlineLine)),
    ...section('Engines with few slots', slots),
    ...section('Routes to models that their providers do not list', unknown),
  ]
}

function onlineLine({ provider, ok, models, error }: OnlineReport): string {
  if (ok === null) return `${provider}: not checked, because it has no model list`
  return ok ? `${provider}: ${models} ${models === 1 ? 'model' : 'models'}` : `${provider}: failed. ${error}`
}
