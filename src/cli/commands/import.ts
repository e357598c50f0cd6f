import { basename, resolve } from 'node:path'
import { fileErrorReason } from '../../config/file-problems.ts'
import { problemLine } from '../../config/problem.ts'
import { writeWithoutOverwrite } from '../../lib/files.ts'
import { shortText } from '../../lib/text.ts'
import { type Command, commonFlagsHelp, runSubcommand, subcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError, UsageError } from '../errors.ts'
import { problemsOfYaml, settingsYaml } from '../import/settings-yaml.ts'
import { importConfig, type ImportedConfig, isLitellmConfig } from '../import/import-config.ts'
import { importKeys } from '../import/import-keys.ts'
import { countText, readYamlFile, reportNotes } from '../import/source.ts'
import { jsonText } from '../output.ts'

const usage = `Usage
  weir import litellm FILE [--out weir.yaml]
                                 convert the config.yaml of a LiteLLM proxy
  weir import litellm --keys FILE [--teams FILE] [--org NAME] [--apply]
                                 create projects and API keys like the teams and keys of LiteLLM

Converts the config.yaml of a LiteLLM proxy to the settings of Weir and prints them as YAML. What
Weir has no setting for is listed on standard error, a line each, with its path in FILE. Secrets
are not copied: a key in plain text becomes an environment variable, which the list names.
Exit code 0: there are models or providers; 1: FILE is not a LiteLLM configuration, or has none
that Weir can serve.

With --keys, teams become projects, and keys become API keys with the same budgets, rate limits,
models, expiry and tags. The API keys are new, because LiteLLM stores only hashes: they are printed
once, as CSV. Without --apply, nothing is changed, and the projects and API keys are listed that
would be created. All of them are created, or none. What exists already, by its name, stays as it
is. What was spent so far is not imported.

Flags
  --out FILE     write the settings to FILE, which must not exist yet
  --keys FILE    the keys as JSON: the response of GET /key/list?return_full_object=true, or the rows
                 of the table LiteLLM_VerificationToken
  --teams FILE   the teams as JSON: the response of GET /team/list, or the rows of LiteLLM_TeamTable;
                 without it, the projects have the names and limits that the keys have of their teams
  --org NAME     the organization of the projects and API keys; default: “default”
  --apply        create them, and print the API keys
  --json         print {"config", "yaml", "not_imported": [{"path", "reason"}]}
                 if FILE has no model that Weir can serve, the error has "not_imported"
                 with --keys: {"organization", "applied", "projects", "keys", "existing",
                 "not_imported"}; "existing" has the names of the projects and keys that stay as
                 they are

Examples
  weir import litellm config.yaml
  weir import litellm config.yaml --out weir.yaml
  weir import litellm --keys keys.json --teams teams.json
  weir import litellm --keys keys.json --teams teams.json --apply > new-keys.csv

${commonFlagsHelp}`

/** `weir import`. */
export const command: Command = {
  usage,
  run: (args, context) => runSubcommand('import', { litellm: importLitellm }, args, context),
}

const ownFlags = { out: 'text', keys: 'text', teams: 'text', org: 'text', apply: 'switch' } as const
const signature = { flags: ownFlags, operands: ['FILE?'] } as const

const importLitellm = subcommand('import litellm', signature, ({ flags, operands: [operand], context }) => {
  const { keys } = flags
  if (keys !== undefined && operand === undefined && flags.out === undefined)
    return importKeys({ ...flags, keys }, context)
  assertConfigImport(operand, flags)
  return importSettings(operand, flags, context)
})

/** Throws `UsageError` if the flags are not those of the import of a config.yaml. */
function assertConfigImport(
  file: string | undefined,
  { keys, teams, org, apply }: { keys?: string; teams?: string; org?: string; apply?: boolean },
): asserts file is string {
  if (keys !== undefined)
    throw new UsageError('--keys is an import of its own: run it without FILE and --out.', 'import')
  if (teams !== undefined || org !== undefined || apply)
    throw new UsageError('--teams, --org and --apply require --keys.', 'import')
  if (file === undefined) throw new UsageError('Missing argument FILE for weir import litellm.', 'import')
}

type SettingsFlags = { readonly out?: string; readonly json?: boolean }

function importSettings(operand: string, flags: SettingsFlags, context: CliContext): number {
  const file = resolve(context.cwd, operand)
  const imported = importFile(file)
  const { settings, notImported } = imported
  if (!settings.providers && !settings.models) {
    if (!flags.json) reportNotes(notImported, context)
    throw new CommandError(`${file} has no model that Weir can serve.`, { not_imported: notImported })
  }
  const yaml = settingsYaml(settings, imported.comments, titleOf(file))
  assertValid(yaml)
  const target = flags.out === undefined ? undefined : resolve(context.cwd, flags.out)
  if (target !== undefined) writeNewFile(target, yaml)
  if (flags.json) context.out(jsonText({ config: settings, yaml, not_imported: notImported }))
  else context.out(target === undefined ? yaml.trimEnd() : summaryText(target, imported))
  if (!flags.json) reportNotes(notImported, context)
  return 0
}

function importFile(file: string): ImportedConfig {
  const { config, duplicates } = readYamlFile(file)
  if (!isLitellmConfig(config))
    throw new CommandError(
      `${file} is not a LiteLLM configuration: it has no model_list and no settings of LiteLLM.`,
    )
  const imported = importConfig(config)
  const reason = 'It is defined twice; the last one was imported.'
  const notes = duplicates.map((path) => ({ path, reason }))
  return { ...imported, notImported: [...notes, ...imported.notImported] }
}

/** The result is valid for any input; if it is not, the error is in this program. */
function assertValid(yaml: string): void {
  const problems = problemsOfYaml(yaml)
  if (problems.length === 0) return
  const lines = problems.map((problem) => `  ${problemLine(problem)}`)
  throw new CommandError(
    ['The imported settings are not valid, which is an error of Weir:', ...lines].join('\n'),
  )
}

function writeNewFile(file: string, yaml: string): void {
  let written: boolean
  try {
    written = writeWithoutOverwrite(file, yaml)
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${fileErrorReason(error)}.`)
  }
  if (!written) throw new CommandError(`${file} exists and was not overwritten; choose another --out.`)
}

function titleOf(file: string): string {
  return `Imported by weir import litellm from ${shortText(basename(file), 80)}.`
}

function summaryText(file: string, { settings, notImported }: ImportedConfig): string {
  const providers = countText(Object.keys(settings.providers ?? {}).length, 'provider')
  const models = countText(settings.models?.length ?? 0, 'model')
  const notes = notImported.length === 0 ? '' : ` ${countText(notImported.length, 'note')} below.`
  return `Wrote ${file}: ${providers}, ${models}.${notes}`
}
