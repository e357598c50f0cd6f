import { shellWord } from '../quote.ts'
import {
  apiKey,
  baseUrl,
  type ConnectInput,
  type ConnectTool,
  keyVariable,
  type ToolSettings,
} from './tool.ts'

/** The settings of a tool and what they were made from. */
export type ConnectResult = {
  readonly tool: ConnectTool
  readonly input: ConnectInput
  readonly settings: ToolSettings
  /** Whether a gateway answers at the address. */
  readonly running: boolean
  /** Notes of this run, before those of the tool. */
  readonly notes: readonly string[]
}

/** Returns the result as `--json` prints it. */
export function connectJson({ tool, input, settings, running, notes }: ConnectResult) {
  const key = input.key ?? `$${keyVariable}`
  return {
    tool: tool.name,
    base_url: settings.baseUrl ?? baseUrl(input),
    running,
    model: input.model.slug,
    ...(input.key !== undefined && { key: input.key }),
    ...(settings.install !== undefined && { install: settings.install }),
    environment: Object.fromEntries(
      Object.entries(settings.environment).map(([name, value]) => [name, value === apiKey ? key : value]),
    ),
    files: settings.files,
    ...(settings.command !== undefined && { command: settings.command }),
    notes: [...notes, ...settings.notes],
  }
}

/** Returns the result as text for the terminal: blocks to paste, each below a line that says where. */
export function connectText({ tool, input, settings, running, notes }: ConnectResult): string {
  const state = running ? 'is running' : 'is not running'
  const { install, files, command } = settings
  const exports = exportLines(settings, input.key)
  const allNotes = [...notes, ...settings.notes]
  return [
    `${tool.title} with ${input.model.slug}. Weir ${state} at ${input.origin}.`,
    ...block('Install:', install),
    ...block('Set in the shell:', exports),
    ...files.flatMap(({ path, content }) => block(`${path}:`, content.trimEnd())),
    ...block('Run:', command),
    ...block('Notes:', allNotes.map((note) => `- ${note}`).join('\n')),
  ].join('\n\n')
}

/** Returns the commands that set the environment; without a key, its variable must be set already. */
export function exportLines({ environment }: ToolSettings, key: string | undefined): string {
  const lines = Object.entries(environment).flatMap(([name, value]) => {
    if (value !== apiKey) return [`export ${name}=${shellWord(value)}`]
    if (key !== undefined) return [`export ${name}=${shellWord(key)}`]
    return name === keyVariable ? [] : [`export ${name}="$${keyVariable}"`]
  })
  return lines.join('\n')
}

function block(title: string, text = ''): string[] {
  return text === '' ? [] : [title, text]
}
