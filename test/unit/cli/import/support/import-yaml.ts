import { problemsOfYaml, settingsYaml } from '../../../../../src/cli/import/settings-yaml.ts'
import { importConfig } from '../../../../../src/cli/import/import-config.ts'
import { fieldsOf } from '../../../../../src/lib/json/json.ts'

/** What a LiteLLM configuration, in YAML, becomes; throws where the settings would not load. */
export function importYaml(source: string) {
  return importValue(Bun.YAML.parse(source))
}

/** The same of a parsed configuration. */
export function importValue(source: unknown) {
  const { settings, comments, notImported } = importConfig(fieldsOf(source))
  const yaml = settingsYaml(settings, comments, 'Test.')
  const problems = problemsOfYaml(yaml)
  if (problems.length > 0) throw new Error(`${JSON.stringify(problems)} in\n${yaml}`)
  return { settings, yaml, notes: notImported.map(({ path, reason }) => `${path}: ${reason}`) }
}

/** A configuration with one deployment of these `litellm_params`, in YAML flow style. */
export function oneModel(params: string, name = 'chat', info = '{}'): string {
  return `model_list: [{ model_name: ${JSON.stringify(name)}, litellm_params: ${params}, model_info: ${info} }]`
}
