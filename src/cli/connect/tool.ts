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
}

/** What the settings of a tool are made from. */
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

/** What a user sets, writes and runs to use Weir with a tool. */
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
  /** What it is, in one line. */
  readonly summary: string
  /** The slugs that suit the tool best; the newest one that is enabled is the default. */
  readonly preferredModel?: RegExp
  settings(input: ConnectInput): ToolSettings
}

/** Returns the base URL of the OpenAI-compatible API. */
export function baseUrl({ origin }: Pick<ConnectInput, 'origin'>): string {
  return `${origin}/v1`
}

/** The environment of a tool that reads the key from a variable of any name. */
export const keyEnvironment: ToolSettings['environment'] = { [keyVariable]: apiKey }
