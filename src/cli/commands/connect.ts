import { join } from 'node:path'
import { renderModel } from '../../api/models/render.ts'
import { toSettings } from '../../config/defaults.ts'
import { type LoadedSettings, loadSettings } from '../../config/load.ts'
import { parseApiKey } from '../../domain/accounting/api-key.ts'
import { suggestion } from '../../lib/near-match.ts'
import { loggable } from '../../lib/text.ts'
import type { NewKey } from '../../storage/ports/accounts.ts'
import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { type Command, commonFlagsHelp, type FlagValues, subcommand } from '../command.ts'
import {
  chooseModel,
  type ConnectCandidate,
  isPrintable,
  listedCandidate,
  servedModels,
} from '../connect/models.ts'
import { applySettings, type MissingSetting, settingText } from '../connect/missing-settings.ts'
import { isServing, originOf } from '../running-gateway.ts'
import {
  apiKey,
  connectJson,
  type ConnectResult,
  connectText,
  type ConnectTool,
  keyVariable,
  type ToolSettings,
} from '../connect/tool.ts'
import { connectTools } from '../connect/tools.ts'
import type { CliContext } from '../context.ts'
import { currentModels } from '../current-models.ts'
import { UsageError } from '../errors.ts'
import { table } from '../output.ts'
import { type DatabaseFlags, withDatabase } from '../storage.ts'

const usage = `Usage
  weir connect                   lists the tools
  weir connect TOOL [--key KEY | --create-key [--org NAME]] [--model SLUG] [--apply]
                                 prints the settings that make a tool use this gateway

Prints environment variables, files and commands to paste, with the address of the gateway and a
model that is enabled, and what the settings of Weir lack for the tool. Without --key or
--create-key, the settings refer to the environment variable ${keyVariable}.

Flags
  --key KEY      the API key for the tool
  --create-key   creates an API key with the name of the tool and prints it, once
  --org NAME     the organization of the created key; default: default
  --apply        adds what the settings file of Weir lacks for the tool; its comments stay
  --model SLUG   the model; default: one that suits the tool, else the cheapest one with tools
  --url URL      the address of the gateway; default: that of weir serve, from the settings
  --host HOST    the host and the port of weir serve, if it is started with these flags
  --port PORT

Examples
  weir connect claude-code --create-key
  weir connect codex --model openai/gpt-6-luna --apply
  weir connect cursor --url https://weir.example.com

${commonFlagsHelp}`

const ownFlags = {
  key: 'text',
  'create-key': 'switch',
  apply: 'switch',
  org: 'text',
  model: 'text',
  url: 'text',
  host: 'text',
  port: 'text',
} as const

type ConnectFlags = FlagValues<typeof ownFlags> & DatabaseFlags

/** `weir connect`. */
export const command: Command = {
  usage,
  run: subcommand('connect', { flags: ownFlags, operands: ['TOOL?'] }, async (call) => {
    const { flags, context, print } = call
    const [name] = call.operands
    if (name === undefined) return print(connectTools.map(toolJson), toolList())
    const tool = findTool(name)
    assertFlags(flags)
    const result = await connectResult(tool, flags, context)
    print(connectJson(result), connectText(result))
  }),
}

async function connectResult(
  tool: ConnectTool,
  flags: ConnectFlags,
  context: CliContext,
): Promise<ConnectResult> {
  const loaded = loadSettings({ flags, ...context })
  const origin = originOf(loaded.settings, flags.url)
  const missing = flags.url === undefined ? (tool.missingSettings?.(loaded.settings) ?? []) : undefined
  const applied = flags.apply
    ? apply(missing ?? [], loaded.file ?? join(context.cwd, 'weir.yaml'))
    : undefined
  const running = await isServing(origin)
  const created = flags['create-key'] ? await createKey(tool, flags, context) : undefined
  const key = created?.key.reveal() ?? flags.key
  const candidates = await enabledModels(loaded, running ? origin : undefined, key, context)
  const { model, models, note } = chooseModel(tool, candidates, { slug: flags.model, now: Date.now() })
  const input = { origin, key, model, models }
  const settings = tool.settings(input)
  const notes = [
    ...(applied ?? missingNotes(tool, missing, loaded.file)),
    ...(running ? [] : [notRunningNote(flags)]),
    ...(key === undefined ? [missingKeyNote(settings)] : []),
    ...(note === undefined ? [] : [note]),
  ]
  return { tool, input, settings, missing: applied === undefined ? missing : [], running, notes }
}

/** Adds the settings to the file, and returns what the user has to do then. */
function apply(missing: readonly MissingSetting[], file: string): readonly string[] {
  if (missing.length === 0) return ['The settings of Weir have everything that the tool needs.']
  applySettings(file, missing)
  const added = `Added to ${file}: ${missing.map(settingText).join(', ')}.`
  return [
    `${added} A running server reads it on SIGHUP: systemctl reload weir, or kill -HUP with its process ID.`,
  ]
}

function missingNotes(
  tool: ConnectTool,
  missing: readonly MissingSetting[] | undefined,
  file: string | null,
): readonly string[] {
  if (missing === undefined) {
    const needed = tool.missingSettings?.(toSettings({}, null)) ?? []
    return needed.map(
      (setting) => `${tool.title} needs this in the settings of the gateway: ${settingText(setting)}`,
    )
  }
  const place = file === null ? 'There is no settings file with' : `The file ${file} lacks`
  return missing.map(
    (setting) => `${place} what ${tool.title} needs: ${settingText(setting)}. To add it, use --apply.`,
  )
}

function missingKeyNote({ environment }: ToolSettings): string {
  return Object.values(environment).includes(apiKey)
    ? `The environment variable ${keyVariable} must contain an API key; --create-key creates one.`
    : 'With --key KEY or --create-key, the settings contain the API key.'
}

function notRunningNote({ url }: ConnectFlags): string {
  return url === undefined
    ? 'Weir does not answer at this address: start it with weir serve.'
    : 'Weir does not answer at this address, or not to this machine.'
}

/** Asks the running gateway, which may have other keys of providers; without one or a key, reads the settings. */
async function enabledModels(
  loaded: LoadedSettings,
  origin: string | undefined,
  key: string | undefined,
  context: CliContext,
): Promise<readonly ConnectCandidate[]> {
  const served = origin !== undefined && key !== undefined ? await servedModels(origin, key) : undefined
  if (served !== undefined) return served
  const { enabled } = await currentModels(loaded, context)
  return enabled.map(renderModel).flatMap(listedCandidate)
}

async function createKey(tool: ConnectTool, flags: ConnectFlags, context: CliContext): Promise<NewKey> {
  const input = { organization: flags.org ?? defaultOrganization, name: tool.name, expiresAt: null }
  const created = await withDatabase('write', flags, context, ({ keys }) => keys.create(input))
  if (!flags.json)
    context.err(
      `This is the only time the key is shown. It belongs to ${created.record.organization} and works until it is revoked.`,
    )
  return created
}

function assertFlags(flags: ConnectFlags): void {
  if (flags.model !== undefined && !isPrintable(flags.model))
    throw new UsageError('The value of --model contains control characters.', 'connect')
  if (flags.key !== undefined && flags['create-key'])
    throw new UsageError('Use either --key or --create-key.', 'connect')
  if (flags.apply && flags.url !== undefined)
    throw new UsageError('--apply changes the settings of this machine, not those of --url.')
  if (flags.org !== undefined && !flags['create-key'])
    throw new UsageError('--org requires --create-key.', 'connect')
  // Not quoted: it may be a key that was cut when it was copied.
  if (flags.key !== undefined && parseApiKey(flags.key) === undefined)
    throw new UsageError(
      'The value of --key is not an API key of Weir: one starts with sk-weir- and is whole.',
    )
}

function findTool(name: string): ConnectTool {
  const names = connectTools.map((tool) => tool.name)
  const tool = connectTools.find((tool) => tool.name === name)
  if (tool !== undefined) return tool
  const guess = suggestion(name, names, `Available: ${names.join(', ')}.`)
  throw new UsageError(
    `There are no settings for “${loggable(name)}”. ${guess} weir connect lists the tools.`,
  )
}

function toolJson({ name, title, summary }: ConnectTool) {
  return { tool: name, title, summary }
}

function toolList(): string {
  const list = table(connectTools, [
    { title: 'TOOL', value: ({ name }) => name },
    { title: 'NAME', value: ({ title }) => title },
    { title: 'DESCRIPTION', value: ({ summary }) => summary },
  ])
  return `${list}\n\n“weir connect TOOL” prints the settings of one.`
}
