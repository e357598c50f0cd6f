import { problemPath } from '../../config/problem.ts'
import type { SettingsFile } from '../../config/settings.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf, withoutEmpty } from '../../lib/json/json.ts'
import { type Deployment, readDeployment } from './deployment.ts'
import { enableWildcards, isWildcard, noteWildcardNames, readFallbacks } from './routes.ts'
import { type GroupAlias, type ImportedModel, importModels } from './models.ts'
import { amountOf, durationOf, isTrue, Notes, type NotImported, quoted, type Sections } from './source.ts'
import { ProviderRegistry } from './provider-registry.ts'
import { noteSections } from './unsupported.ts'
import { parseDuration } from '../../config/units.ts'

/** The settings that a LiteLLM configuration becomes. */
export type ImportedConfig = {
  readonly settings: SettingsFile
  readonly notImported: readonly NotImported[]
  /** Where a setting came from, by its path in the settings. */
  readonly comments: ReadonlyMap<string, string>
}

/** True if the parsed file has a section that only a LiteLLM configuration has. */
export function isLitellmConfig(config: unknown): config is Fields {
  return (
    isObject(config) && sectionNames.some((name) => isObject(config[name]) || Array.isArray(config[name]))
  )
}

const sectionNames = ['model_list', 'litellm_settings', 'router_settings', 'general_settings']

/** Translates a LiteLLM configuration. Any value is accepted: what has no meaning is noted. */
export function importConfig(config: Fields): ImportedConfig {
  const notes = new Notes()
  const registry = new ProviderRegistry()
  const sections = sectionsOf(config)
  const all = readModelList(config, sections, registry, notes)
  const wildcards = all.filter(isWildcard)
  const deployments = all.filter((deployment) => !isWildcard(deployment))
  enableWildcards(wildcards, notes)
  registry.assignNames()
  noteWildcardNames(wildcards, notes)
  const fallbacks = readFallbacks(sections.litellm_settings, sections.router_settings, notes)
  const aliases = readAliases(sections.router_settings)
  const models = importModels({ deployments, wildcards, fallbacks, aliases, notes })
  const operation = readOperation(sections, notes)
  const providers = registry.settings(notes)
  noteCatalog(providers, notes)
  noteSections(config, sections, notes)
  return {
    settings: {
      ...(Object.keys(providers).length > 0 && { providers }),
      ...(models.length > 0 && { models: models.map(({ model }) => model) }),
      ...operation.settings,
    },
    notImported: notes.list(),
    comments: new Map([...providerComments(registry), ...modelComments(models), ...operation.sources]),
  }
}

function sectionsOf(config: Fields): Sections {
  return {
    litellm_settings: fieldsOf(config.litellm_settings),
    router_settings: fieldsOf(config.router_settings),
    general_settings: fieldsOf(config.general_settings),
  }
}

function readModelList(
  config: Fields,
  sections: Sections,
  registry: ProviderRegistry,
  notes: Notes,
): Deployment[] {
  const context = {
    notes,
    registry,
    credentials: readCredentials(config),
    defaults: defaultParams(sections),
  }
  const list = listOf(config.model_list)
  if (config.model_list !== undefined && config.model_list !== null && !Array.isArray(config.model_list))
    notes.add('model_list', 'It is not a list of models.')
  if (list.length > maxModels) notes.add('model_list', `Only the first ${maxModels} entries were imported.`)
  return list
    .slice(0, maxModels)
    .flatMap((entry, index) => readDeployment(entry, problemPath('model_list', index), context) ?? [])
}

/** More would not be one gateway's configuration. */
const maxModels = 2000

/** `credential_values` by `credential_name`. */
function readCredentials(config: Fields): ReadonlyMap<string, Fields> {
  return new Map(
    listOf(config.credential_list).flatMap((entry) => {
      const { credential_name: name, credential_values: values } = fieldsOf(entry)
      return typeof name === 'string' ? [[name, fieldsOf(values)]] : []
    }),
  )
}

/** The parameters that the sections give to all deployments. */
function defaultParams({ litellm_settings, router_settings }: Sections): Fields {
  return withoutEmpty({
    timeout: router_settings.timeout ?? litellm_settings.request_timeout,
    stream_timeout: router_settings.stream_timeout,
    vertex_project: litellm_settings.vertex_project,
    vertex_location: litellm_settings.vertex_location,
  })
}

/** `model_group_alias`: the name of a model, or an object with it. */
function readAliases(routerSettings: Fields): GroupAlias[] {
  return Object.entries(fieldsOf(routerSettings.model_group_alias)).map(([alias, target]) => ({
    alias,
    name: textOf(isObject(target) ? target.model : target) ?? '',
    path: problemPath('router_settings.model_group_alias', alias),
  }))
}

/** Every provider with a name of the catalog enables its models, listed or not. */
function noteCatalog(providers: Readonly<Record<string, object>>, notes: Notes): void {
  const names = Object.keys(providers).filter((name) => ProviderRegistry.isInCatalog(name))
  if (names.length > 0)
    notes.add(
      'model_list',
      `Weir also enables the other catalog models of ${names.join(', ')}; enabled: false disables one (see weir models).`,
    )
}

function providerComments(registry: ProviderRegistry): [string, string][] {
  return [...registry.sources()].map(([name, sources]) => [`providers.${name}`, listText(sources)])
}

function modelComments(models: readonly ImportedModel[]): [string, string][] {
  return models.map(({ sources }, index) => [
    `models[${index}]`,
    `${quoted(sources[0]?.name ?? '')}: ${listText(sources.map(({ path }) => path))}`,
  ])
}

function listText(paths: readonly string[]): string {
  const shown = paths.slice(0, 4).map((path) => path.replace('.litellm_params', ''))
  return `${shown.join(', ')}${paths.length > shown.length ? ` and ${paths.length - shown.length} more` : ''}`
}

/** How requests are retried and routed, and what is kept. */
type OperationSettings = Pick<SettingsFile, 'retries' | 'breaker' | 'unsupported_parameters' | 'retention'>

/** The settings, and the path in the source that each came from. */
type ImportedOperation = {
  readonly settings: OperationSettings
  readonly sources: ReadonlyMap<string, string>
}

/** Reads retries, cooldowns, `drop_params` and the retention of usage. `router_settings` takes precedence. */
function readOperation(sections: Sections, notes: Notes): ImportedOperation {
  const sources = new Map<string, string>()
  const retries = find(sections, 'num_retries')
  const attempts = retries && amountIn(retries, notes)
  if (retries && attempts !== undefined) sources.set('retries', retries.path)
  if (retries && attempts !== undefined && attempts > maxAttempts)
    notes.add(retries.path, `Weir tries at most ${maxAttempts} times again.`)
  const breaker = readBreaker(sections, sources, notes)
  const drop = isTrue(sections.litellm_settings.drop_params)
  if (drop) sources.set('unsupported_parameters', 'litellm_settings.drop_params')
  const retention = readRetention(sections.general_settings, sources, notes)
  return {
    settings: {
      ...(attempts !== undefined && { retries: { attempts: Math.min(maxAttempts, Math.round(attempts)) } }),
      ...(breaker && { breaker }),
      ...(drop && { unsupported_parameters: 'drop' as const }),
      ...(retention !== undefined && { retention: { usage: retention } }),
    },
    sources,
  }
}

const maxAttempts = 10

type Found = { readonly value: unknown; readonly path: string }

/** The setting in `router_settings`, else in `litellm_settings`. */
function find({ router_settings, litellm_settings }: Sections, name: string): Found | undefined {
  for (const [section, fields] of Object.entries({ router_settings, litellm_settings }))
    if (fields[name] !== undefined && fields[name] !== null)
      return { value: fields[name], path: problemPath(section, name) }
  return undefined
}

function amountIn({ value, path }: Found, notes: Notes): number | undefined {
  const amount = amountOf(value)
  if (amount === undefined) notes.add(path, 'It is not a number of at least 0.')
  return amount
}

/** LiteLLM allows so many failures a minute; the circuit of Weir opens at so many in a row. */
function readBreaker(
  sections: Sections,
  sources: Map<string, string>,
  notes: Notes,
): OperationSettings['breaker'] | undefined {
  const allowed = find(sections, 'allowed_fails')
  const time = find(sections, 'cooldown_time')
  const fails = allowed && amountIn(allowed, notes)
  const cooldown = time && durationOf(time.value)
  if (time && cooldown === undefined) notes.add(time.path, 'The cooldown must be longer than 0 seconds.')
  const used = [...(fails === undefined ? [] : [allowed]), ...(cooldown === undefined ? [] : [time])]
  if (used.length === 0) return undefined
  sources.set('breaker', used.map((found) => found?.path).join(', '))
  return {
    ...(fails !== undefined && { failures: Math.min(maxFailures, Math.floor(fails) + 1) }),
    ...(cooldown !== undefined && { cooldown }),
  }
}

const maxFailures = 1_000_000

function readRetention(general: Fields, sources: Map<string, string>, notes: Notes): string | undefined {
  const name = 'maximum_spend_logs_retention_period'
  const value = general[name]
  if (value === undefined || value === null) return undefined
  const path = `general_settings.${name}`
  if (typeof value === 'string' && parseDuration(value) !== undefined) {
    sources.set('retention', path)
    return value
  }
  notes.add(path, 'It is not a duration such as 30d.')
  return undefined
}
