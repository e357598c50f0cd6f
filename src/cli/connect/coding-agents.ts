import { quoted, shellWord } from '../quote.ts'
import {
  agentNotes,
  apiKey,
  baseUrl,
  type ConnectInput,
  type ConnectModel,
  type ConnectTool,
  keyEnvironment,
  keyVariable,
  tokenLimits,
} from './tool.ts'

/** Aider. */
export const aider: ConnectTool = {
  name: 'aider',
  title: 'Aider',
  summary: 'a coding agent in the terminal',
  settings: (input) => ({
    environment: { OPENAI_API_BASE: baseUrl(input), OPENAI_API_KEY: apiKey },
    files: [],
    command: `aider --model ${shellWord(`openai/${input.model.slug}`)}`,
    notes: [
      'The prefix openai/ selects the protocol; the rest is the slug.',
      'Aider warns that it does not know the model, which does no harm: --no-show-model-warnings hides it.',
    ],
  }),
}

/** Claude Code, which uses the Messages API. */
export const claudeCode: ConnectTool = {
  name: 'claude-code',
  title: 'Claude Code',
  summary: 'the coding agent of Anthropic, through POST /v1/messages',
  preferredModel: /^anthropic\/claude-sonnet-/,
  settings: ({ origin, model, models }) => ({
    baseUrl: origin,
    environment: {
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_AUTH_TOKEN: apiKey,
      ANTHROPIC_MODEL: model.slug,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model.slug,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model.slug,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: smallModel(model, models).slug,
      CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
    },
    files: [],
    command: 'claude',
    notes: [
      ...agentNotes('Claude Code', model),
      'The base URL has no /v1: Claude Code appends /v1/messages.',
      'If ANTHROPIC_API_KEY is set, unset it first.',
      'Each of the variables with DEFAULT may name another model. The Haiku one does small tasks, so a cheap model saves money. Older versions read ANTHROPIC_SMALL_FAST_MODEL instead.',
      'The menu of models has those whose names or aliases begin with claude or anthropic: give others such an alias in weir.yaml.',
      'CLAUDE_CODE_ATTRIBUTION_HEADER=0 leaves out a text that changes with each conversation, so that the prompt cache of an engine can be used.',
      'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 disables its own calls to Anthropic, such as telemetry.',
      'Web search runs at Anthropic only: with other models, deny it with --disallowedTools WebSearch.',
      'To keep the settings, put the variables into “env” in ~/.claude/settings.json.',
    ],
  }),
}

/** The Codex CLI, which uses the Responses API with function tools. */
export const codex: ConnectTool = {
  name: 'codex',
  title: 'Codex CLI',
  summary: 'the coding agent of OpenAI, through POST /v1/responses',
  preferredModel: /^openai\/.*codex(-max)?$/,
  settings: (input) => ({
    environment: keyEnvironment,
    files: [{ path: '~/.codex/config.toml', format: 'toml', content: codexConfig(input) }],
    command: 'codex',
    notes: [
      ...agentNotes('Codex', input.model, 16_000),
      'If the file exists, the settings before the first table belong above its first table.',
      'Web search is disabled because only OpenAI runs it, and agents because Codex uses the tool tool_search for them with models that it knows, such as gpt-5.5. With unsupported_parameters: drop in weir.yaml, Weir ignores both tools, and neither setting is required.',
      'Codex warns if it has no metadata for the model, which does no harm.',
      'Codex itself contacts OpenAI and GitHub, for statistics and plugins: enabled = false in the table [analytics] and plugins = false in [features] disable that.',
    ],
  }),
  missingSettings: ({ compatibility }) =>
    compatibility.functionTools ? [] : [{ section: 'compatibility', name: 'function_tools', value: true }],
}

/** The command of GitHub Copilot, with a custom provider. */
export const copilot: ConnectTool = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  summary: 'the coding agent of GitHub in the terminal, without an account there',
  settings: (input) => {
    const { prompt, output } = tokenLimits(input.model)
    return {
      environment: {
        COPILOT_PROVIDER_BASE_URL: baseUrl(input),
        COPILOT_PROVIDER_API_KEY: apiKey,
        COPILOT_MODEL: input.model.slug,
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(prompt),
        COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(output),
      },
      files: [],
      command: 'copilot',
      notes: [
        ...agentNotes('Copilot', input.model),
        'COPILOT_OFFLINE=true disables its own requests to GitHub, such as telemetry and updates.',
      ],
    }
  },
}

/** Returns the model for the small tasks of Claude Code: a Haiku beside another model of Anthropic. */
function smallModel(model: ConnectModel, models: readonly ConnectModel[]): ConnectModel {
  const haiku = models.find(({ slug }) => slug.startsWith('anthropic/claude-haiku-'))
  return haiku !== undefined && model.slug.startsWith('anthropic/') ? haiku : model
}

function codexConfig(input: ConnectInput): string {
  const { slug, contextWindow } = input.model
  return `model = ${quoted(slug)}
model_provider = "weir"
web_search = "disabled"
${contextWindow === undefined ? '' : `model_context_window = ${contextWindow}\n`}
[model_providers.weir]
name = "Weir"
base_url = ${quoted(baseUrl(input))}
env_key = "${keyVariable}"
wire_api = "responses"
supports_websockets = false

[agents]
enabled = false
`
}
