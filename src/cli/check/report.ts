import { problemLine, type SettingsProblem } from '../../config/problem.ts'
import { oneOf } from '../../lib/validation/wording.ts'
import { table } from '../output.ts'

/** What `weir check` found; what needs sound settings is absent where they are not. */
export type CheckReport = {
  readonly ok: boolean
  readonly file: string | null
  readonly data_folder?: string
  readonly problems: readonly SettingsProblem[]
  /** What is accepted but probably not what was meant. */
  readonly warnings?: readonly SettingsProblem[]
  readonly providers?: readonly ProviderReport[]
  readonly models?: ModelsReport
  /** What the providers answered, where they were asked. */
  readonly online?: readonly OnlineReport[]
}

export type OnlineReport = {
  readonly provider: string
  /** Null for one that has no list of its models, and was not asked. */
  readonly ok: boolean | null
  /** How many models it listed. */
  readonly models: number | null
  /** Why it gave no list. */
  readonly error: string | null
  /** The base behind which it does list them, where that is not the one of the settings. */
  readonly working_base_url?: string
  /** The models of routes to it that it did not list. */
  readonly unknown: readonly string[]
}

export type ProviderReport = {
  readonly name: string
  readonly kind: string
  /** Null where the provider is inside this program. */
  readonly base_url: string | null
  readonly key: boolean
  /** Why it cannot be asked, in a sentence that says what to set; null where it can. */
  readonly missing: string | null
}

export type ModelsReport = {
  readonly on: number
  readonly off: number
  /** The providers whose models are not counted, because they were not asked for their lists. */
  readonly not_listed: readonly string[]
  /** The models of the settings that nobody can serve, each with the reason. */
  readonly without_service: readonly { readonly slug: string; readonly reason: string }[]
}

/** The report for a person. */
export function reportText(report: CheckReport): string {
  const data = report.data_folder === undefined ? [] : [`Data      ${report.data_folder}`]
  return [
    `Settings  ${report.file ?? 'no file; defaults and environment'}`,
    ...data,
    ...problemLines(report.problems),
    ...section('Warnings', (report.warnings ?? []).map(problemLine)),
    ...providerLines(report.providers ?? []),
    ...modelLines(report.models),
    ...onlineLines(report.online ?? []),
  ].join('\n')
}

function problemLines(problems: readonly SettingsProblem[]): string[] {
  return problems.length === 0 ? ['', 'No problems.'] : section('Problems', problems.map(problemLine))
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
}

function providerLines(providers: readonly ProviderReport[]): string[] {
  if (providers.length === 0) return []
  const text = table(providers, [
    { title: 'PROVIDER', value: ({ name }) => name },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'ADDRESS', value: ({ base_url }) => base_url ?? '-' },
    { title: 'KEY', value: ({ key }) => (key ? 'yes' : 'no') },
    { title: '', value: ({ missing }) => missing ?? '' },
  ])
  return ['', text]
}

function modelLines(models: ModelsReport | undefined): string[] {
  if (models === undefined) return []
  const reasons = models.without_service.map(({ slug, reason }) => `${slug}: ${reason}`)
  return [
    '',
    `Models: ${models.on} on, ${models.off} off.`,
    ...notListedLines(models.not_listed),
    ...section('Named in the settings, but without service', reasons),
  ]
}

function notListedLines(providers: readonly string[]): string[] {
  if (providers.length === 0) return []
  return [`Not counted: the models that ${oneOf(providers, 'and')} will list; --online asks for them.`]
}

function onlineLines(reports: readonly OnlineReport[]): string[] {
  const unknown = reports.flatMap(({ provider, unknown }) => unknown.map((model) => `${provider}: ${model}`))
  return [
    ...section('Asked for their models', reports.map(onlineLine)),
    ...section('Models of routes that their providers did not list', unknown),
  ]
}

function onlineLine({ provider, ok, models, error }: OnlineReport): string {
  if (ok === null) return `${provider}: has no list; not asked`
  return ok ? `${provider}: ${models} models` : `${provider}: failed. ${error}`
}
