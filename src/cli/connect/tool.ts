import type { Settings } from '../../config/settings.ts'
import { shellWord } from '../quote.ts'
import { type MissingSetting, settingText } from './missing-settings.ts'

/** A model, as the settings of a tool describe it. */
export type ConnectModel = {
  readonly slug: string
  readonly displayName: string
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  /** Whether it accepts function tools. */
  readonly tools: boolean
  /** Whether it accepts images. */
  readonly images: boolean
  /** Whether its answer can follow a JSON schema. */
  readonly schemas: boolean
}

/** The values from which the settings of a tool are made. */
export type ConnectInput = {
  /** The address of Weir without a path, such as `http://127.0.0.1:9347`. */
  readonly origin: string
  /** Absent: the settings refer to the environment variable of the key. */
  readonly key?: string
  /** The model that the tool uses. */
  readonly model: ConnectModel
  /** The models that a tool with a menu offers; the first is `model`. */
  readonly models: readonly ConnectModel[]
}

/** Stands for the API key in the value of an environment variable. */
export const apiKey = Symbol('API key')

/** The environment variable that holds the API key, for tools that read a variable of any name. */
export const keyVariable = 'WEIR_API_KEY'

/** A file that the user creates or extends. */
export type ToolFile = {
  readonly path: string
  readonly format: FileFormat
  readonly content: string
}

/** The language of a file, named as in a fenced block of Markdown. */
export type FileFormat = 'python' | 'javascript' | 'go' | 'json' | 'yaml' | 'toml'

/** The variables, files and commands with which a user connects a tool to Weir. */
export type ToolSettings = {
  /** The base URL that the tool needs, if it is not that of the OpenAI-compatible API. */
  readonly baseUrl?: string
  /** A command that installs what the files need. */
  readonly install?: string
  readonly environment: Readonly<Record<string, string | typeof apiKey>>
  readonly files: readonly ToolFile[]
  /** A command that uses the tool with these settings. */
  readonly command?: string
  /** Whole sentences: what the user needs to know besides. */
  readonly notes: readonly string[]
}

/** A program or library that `weir connect` has settings for. */
export type ConnectTool = {
  /** The operand of `weir connect`. */
  readonly name: string
  /** The name that the tool has for its users. */
  readonly title: string
  /** A description in one line. */
  readonly summary: string
  /** The slugs that suit the tool best; the newest one that is enabled is the default. */
  readonly preferredModel?: RegExp
  settings(input: ConnectInput): ToolSettings
  /** What the settings of Weir lack for the tool. */
  missingSettings?(settings: Pick<Settings, 'compatibility'>): readonly MissingSetting[]
}

/** The values that most templates name, beside the others. */
export type TemplateInput = ConnectInput & { readonly url: string; readonly slug: string }

/** A tool whose settings name only what is its own: by default, it reads the key from its variable and has no files. */
export type ToolTemplate = Omit<ConnectTool, 'settings'> & {
  settings(input: TemplateInput): Partial<ToolSettings> & Pick<ToolSettings, 'notes'>
}

/** Returns the base URL of the OpenAI-compatible API. */
export function baseUrl({ origin }: Pick<ConnectInput, 'origin'>): string {
  return `${origin}/v1`
}

/** The environment of a tool that reads the key from a variable of any name. */
export const keyEnvironment: ToolSettings['environment'] = { [keyVariable]: apiKey }

/** What to enter where a tool has its settings in a window. */
export function keyText({ key }: Pick<ConnectInput, 'key'>): string {
  return key === undefined ? 'an API key of Weir' : `the API key ${key}`
}

/** What keeps an agent, whose instructions and tools take a part of the context window, from working with the model. */
export function agentNotes(agent: string, model: ConnectModel, minContextWindow = 32_000): readonly string[] {
  const { slug, tools, contextWindow = minContextWindow } = model
  const [size, least] = [contextWindow, minContextWindow].map((tokens) => tokens.toLocaleString('en-US'))
  return [
    ...(tools ? [] : [`The model ${slug} cannot call tools, which ${agent} needs.`]),
    ...(contextWindow >= minContextWindow
      ? []
      : [
          `The context window of ${slug} has ${size} tokens, which are too few: ${agent} needs at least ${least}. ${enginesWindow}`,
        ]),
  ]
}

/** How a model of a local engine gets a larger window. */
const enginesWindow =
  'Start llama-server with a larger --ctx-size, which --parallel divides, or vLLM with --max-model-len; in Ollama, raise num_ctx of the model. If context_window is in weir.yaml, raise it there too.'

/** Tokens; suits most models whose context window is not known. */
export const defaultContextWindow = 128_000

/** The tokens of a prompt and of a reply that fit into the context window together, for tools that need both numbers. */
export function tokenLimits({ contextWindow = defaultContextWindow, maxOutputTokens = 8000 }: ConnectModel) {
  const output = Math.min(maxOutputTokens, Math.floor(contextWindow / 2))
  return { prompt: contextWindow - output, output }
}

/** The settings of a tool and what they were made from. */
export type ConnectResult = {
  readonly tool: ConnectTool
  readonly input: ConnectInput
  readonly settings: ToolSettings
  /** What the settings lack for the tool; absent if they are those of another machine. */
  readonly missing?: readonly MissingSetting[] | undefined
  /** Whether a gateway answers at the address. */
  readonly running: boolean
  /** Notes of this run, before those of the tool. */
  readonly notes: readonly string[]
}

/** Returns the result as `--json` prints it. */
export function connectJson({ tool, input, settings, missing, running, notes }: ConnectResult) {
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
    ...(missing !== undefined && { missing_settings: missing.map(settingText) }),
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
