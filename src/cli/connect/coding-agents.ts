import { quoted, shellWord } from '../quote.ts'
import { codexConfig, gooseProvider, opencodeFile, piModels, qwenSettings } from './agent-files.ts'
import {
  agentNotes,
  apiKey,
  type ConnectModel,
  keyEnvironment,
  keyVariable,
  tokenLimits,
  type ToolTemplate,
} from './tool.ts'

/** Coding agents in the terminal. */
export const codingAgents: readonly ToolTemplate[] = [
  {
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
  },
  {
    name: 'codex',
    title: 'Codex CLI',
    summary: 'the coding agent of OpenAI, through POST /v1/responses',
    preferredModel: /^openai\/(gpt-[\d.]+-sol|.*codex(-max)?)$/,
    settings: (input) => ({
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
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    summary: 'the coding agent of GitHub in the terminal, without an account there',
    settings: (input) => {
      const { prompt, output } = tokenLimits(input.model)
      return {
        environment: {
          COPILOT_PROVIDER_BASE_URL: input.url,
          COPILOT_PROVIDER_API_KEY: apiKey,
          COPILOT_MODEL: input.slug,
          COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(prompt),
          COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(output),
        },
        command: 'copilot',
        notes: [
          ...agentNotes('Copilot', input.model),
          'COPILOT_OFFLINE=true disables its own requests to GitHub, such as telemetry and updates.',
        ],
      }
    },
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    summary: 'a coding agent in the terminal',
    settings: (input) => ({
      files: [opencodeFile('~/.config/opencode/opencode.json', 'https://opencode.ai/config.json', input)],
      command: 'opencode',
      notes: ['If the file exists, add the provider to it. A project may have an opencode.json of its own.'],
    }),
  },
  {
    name: 'kilo',
    title: 'Kilo Code',
    summary: 'a coding agent in the terminal and in Visual Studio Code',
    settings: (input) => ({
      files: [opencodeFile('~/.config/kilo/kilo.json', 'https://app.kilo.ai/config.json', input)],
      command: 'kilo',
      notes: [
        'If the file exists, add the provider to it. The extension for Visual Studio Code reads it too.',
        `The extension finds ${keyVariable} if Visual Studio Code is started from this shell.`,
      ],
    }),
  },
  {
    name: 'qwen-code',
    title: 'Qwen Code',
    summary: 'a coding agent in the terminal',
    settings: (input) => ({
      files: [{ path: '~/.qwen/settings.json', format: 'json', content: qwenSettings(input) }],
      command: 'qwen',
      notes: [
        'If the file exists, add these settings to it. The command /model offers the models.',
        'Unless usageStatisticsEnabled is false, it sends statistics to Alibaba.',
      ],
    }),
  },
  {
    name: 'pi',
    title: 'Pi',
    summary: 'a coding agent in the terminal',
    settings: (input) => ({
      files: [{ path: '~/.pi/agent/models.json', format: 'json', content: piModels(input) }],
      command: `pi --provider weir --model ${shellWord(input.slug)}`,
      notes: [
        ...agentNotes('Pi', input.model),
        'If the file exists, add the provider to it. The command /model offers the models.',
        'A model with "reasoning": true gets the effort that /thinking sets, which some models reject.',
        'PI_OFFLINE=1 disables its own requests to others, such as for updates.',
      ],
    }),
  },
  {
    name: 'goose',
    title: 'Goose',
    summary: 'an agent in the terminal and on the desktop',
    settings: (input) => ({
      environment: { ...keyEnvironment, GOOSE_PROVIDER: 'weir', GOOSE_MODEL: input.slug },
      files: [
        { path: '~/.config/goose/custom_providers/weir.json', format: 'json', content: gooseProvider(input) },
      ],
      command: 'goose session',
      notes: [
        'goose configure saves the provider and the model instead of the two variables, and the desktop program has them in its settings.',
      ],
    }),
  },
  {
    name: 'aider',
    title: 'Aider',
    summary: 'a coding agent in the terminal',
    settings: (input) => ({
      environment: { OPENAI_API_BASE: input.url, OPENAI_API_KEY: apiKey },
      command: `aider --model ${shellWord(`openai/${input.slug}`)}`,
      notes: [
        'The prefix openai/ selects the protocol; the rest is the slug.',
        'Aider warns that it does not know the model, which does no harm: --no-show-model-warnings hides it.',
        `Aider sends the temperature 0, which some models reject. The line - { name: ${quoted(`openai/${input.slug}`)}, use_temperature: false } in .aider.model.settings.yml omits it.`,
      ],
    }),
  },
]

/** Returns the model for the small tasks of Claude Code: a Haiku beside another model of Anthropic. */
function smallModel(model: ConnectModel, models: readonly ConnectModel[]): ConnectModel {
  const haiku = models.find(({ slug }) => slug.startsWith('anthropic/claude-haiku-'))
  return haiku !== undefined && model.slug.startsWith('anthropic/') ? haiku : model
}
