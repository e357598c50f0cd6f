import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileErrorReason } from '../../config/file-problems.ts'
import { problemLine } from '../../config/problem.ts'
import { shortText } from '../../lib/text.ts'
import { type Command, commonFlagsHelp, parseFlags, runSubcommand, type Subcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { problemsOfYaml, settingsYaml } from '../import/settings-yaml.ts'
import { importConfig, type ImportedConfig, isLitellmConfig } from '../import/import-config.ts'
import type { NotImported } from '../import/source.ts'
import { jsonText } from '../output.ts'
import { duplicateKey, invalidLine } from '../../config/read-settings-file.ts'

const usage = `Usage
  weir import litellm FILE [--out weir.yaml] [--json]

Converts the config.yaml of a LiteLLM proxy to the settings of Weir and prints them as YAML. What
Weir has no setting for is listed on standard error, a line each, with its path in FILE. Secrets
are not copied: a key in plain text becomes an environment variable, which the list names.
Exit code 0: there are models or providers; 1: FILE is not a LiteLLM configuration, or has none
that Weir can serve.

Flags
  --out FILE     write the settings to FILE, which must not exist yet
  --json         print {"config", "yaml", "not_imported": [{"path", "reason"}]}
                 if FILE has no model that Weir can serve, the error has "not_imported"

Examples
  weir import litellm config.yaml
  weir import litellm config.yaml --out weir.yaml

${commonFlagsHelp}`

/** `weir import`. */
export const command: Command = {
  usage,
  run: (args, context) => runSubcommand('import', { litellm: importLitellm }, args, context),
}

const importLitellm: Subcommand = async (args, context) => {
  const signature = { command: 'import litellm', flags: { out: 'text' }, operands: ['FILE'] } as const
  const { flags, operands } = parseFlags(args, signature)
  const file = resolve(context.cwd, operands[0] ?? '')
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
  const { config, duplicate } = readSource(file)
  if (!isLitellmConfig(config))
    throw new CommandError(
      `${file} is not a LiteLLM configuration: it has no model_list and no settings of LiteLLM.`,
    )
  const imported = importConfig(config)
  if (duplicate === undefined) return imported
  const note = { path: duplicate, reason: 'It is defined twice; the last one was imported.' }
  return { ...imported, notImported: [note, ...imported.notImported] }
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
  try {
    writeFileSync(file, yaml, { flag: 'wx' })
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    throw new CommandError(
      exists
        ? `${file} exists and was not overwritten; choose another --out.`
        : `${file} cannot be written: ${fileErrorReason(error)}.`,
    )
  }
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

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function reportNotes(notes: readonly NotImported[], context: CliContext): void {
  for (const { path, reason } of notes) context.err(`${shortText(path, 200)}: ${reason}`)
}

/** A parsed file of another program. */
type Source = {
  readonly config: unknown
  /** The path of a key that occurs twice; the parser keeps the last value. */
  readonly duplicate?: string
}

/** Reads and parses a YAML file. Throws `CommandError` with a sentence that names the file. */
function readSource(file: string): Source {
  const text = readText(file)
  const config = parse(text, file)
  const duplicate = duplicateKey(text)
  return { config, ...(duplicate !== undefined && { duplicate }) }
}

const maxBytes = 1024 * 1024

function readText(file: string): string {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const status = fstatSync(descriptor)
    if (status.isFile() && status.size > maxBytes)
      throw new CommandError(`${file} has more than 1 MiB, which no configuration has.`)
    if (!status.isFile()) throw new CommandError(`${file} is not a file.`)
    return readFileSync(descriptor, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${file} cannot be read: ${fileErrorReason(error)}.`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Characters in which the line of an error is searched, which takes a parse for each line. */
const maxSearched = 100_000

function parse(text: string, file: string): unknown {
  try {
    return Bun.YAML.parse(text)
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandError(`${file} is not valid YAML: it is nested too deeply.`)
    const reason = error instanceof Error ? error.message.replace(/^YAML Parse error: /, '') : 'not YAML'
    const line = text.length <= maxSearched ? ` Line ${invalidLine(text)}.` : ''
    throw new CommandError(`${file} is not valid YAML: ${reason}.${line}`)
  }
}
