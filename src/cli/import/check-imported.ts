import { catalog } from '../../config/catalog.ts'
import { checkSchema } from '../../config/check-schema.ts'
import { toSettings } from '../../config/defaults.ts'
import { interpolate } from '../../config/read-settings-file.ts'
import { duplicateModelNames } from '../../config/load.ts'
import type { SettingsProblem } from '../../config/problem.ts'
import { SettingsFile } from '../../config/settings.ts'
import { createModels } from '../../gateway/models/models.ts'
import { fieldsOf, isObject } from '../../lib/json/json.ts'
import { configureProviders } from '../../providers/config/configure-providers.ts'

/**
 * Returns the problems that the settings loader would find in this weir.yaml if every environment variable that it names were
 * set. The files that it names are not read.
 */
export function problemsOfYaml(yaml: string): readonly SettingsProblem[] {
  const problems: SettingsProblem[] = []
  const settings = withSampleVariables(Bun.YAML.parse(yaml), problems)
  if (!checkSchema(SettingsFile, settings, problems)) return problems
  problems.push(...duplicateModelNames(settings.models ?? []))
  const providers = configureProviders(toSettings(settings, null), {})
  const models = createModels({
    catalog: catalog.models,
    settings: settings.models ?? [],
    providers,
    discovered: new Map(),
    firstSeen: () => 0,
  })
  const isFile = ({ path }: SettingsProblem) => path.endsWith('.credentials')
  return [...problems, ...[...providers.problems, ...models.problems].filter((problem) => !isFile(problem))]
}

/** A variable at the start of `base_url` becomes an address, and any other one a word. */
function withSampleVariables(settings: unknown, problems: SettingsProblem[]): unknown {
  const { providers, ...others } = fieldsOf(settings)
  const entries = Object.entries(fieldsOf(providers)).map(([name, provider]) => {
    const { base_url, ...entry } = fieldsOf(provider)
    const isWhole = typeof base_url === 'string' && base_url.startsWith('${')
    const url = interpolate(base_url, variablesAre(isWhole ? 'https://sample.test' : 'sample'), problems)
    return [name, { ...withWords(entry, problems), ...(url !== undefined && { base_url: url }) }]
  })
  return {
    ...withWords(others, problems),
    ...(isObject(providers) && { providers: Object.fromEntries(entries) }),
  }
}

function withWords(fields: object, problems: SettingsProblem[]): object {
  return fieldsOf(interpolate(fields, variablesAre('sample'), problems))
}

/** An environment in which every variable has this value. */
function variablesAre(value: string): Readonly<Record<string, string>> {
  return new Proxy({}, { get: () => value })
}
