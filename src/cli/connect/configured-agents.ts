import { escapeCharacter, quotedJson } from '../quote.ts'
import {
  baseUrl,
  type ConnectInput,
  type ConnectModel,
  type ConnectTool,
  defaultContextWindow,
  keyEnvironment,
  keyVariable,
  type ToolFile,
} from './tool.ts'

/** OpenCode. */
export const opencode: ConnectTool = {
  name: 'opencode',
  title: 'OpenCode',
  summary: 'a coding agent in the terminal',
  settings: (input) => ({
    environment: keyEnvironment,
    files: [opencodeFile('~/.config/opencode/opencode.json', 'https://opencode.ai/config.json', input)],
    command: 'opencode',
    notes: ['If the file exists, add the provider to it. A project may have an opencode.json of its own.'],
  }),
}

/** Kilo Code, which reads the file of OpenCode under another name. */
export const kilo: ConnectTool = {
  name: 'kilo',
  title: 'Kilo Code',
  summary: 'a coding agent in the terminal and in Visual Studio Code',
  settings: (input) => ({
    environment: keyEnvironment,
    files: [opencodeFile('~/.config/kilo/kilo.json', 'https://app.kilo.ai/config.json', input)],
    command: 'kilo',
    notes: [
      'If the file exists, add the provider to it. The extension for Visual Studio Code reads it too.',
      `The extension finds ${keyVariable} if Visual Studio Code is started from this shell.`,
    ],
  }),
}

/** Qwen Code. */
export const qwenCode: ConnectTool = {
  name: 'qwen-code',
  title: 'Qwen Code',
  summary: 'a coding agent in the terminal',
  settings: (input) => ({
    environment: keyEnvironment,
    files: [{ path: '~/.qwen/settings.json', format: 'json', content: qwenSettings(input) }],
    command: 'qwen',
    notes: [
      'If the file exists, add these settings to it. The command /model offers the models.',
      'Unless usageStatisticsEnabled is false, it sends statistics to Alibaba.',
    ],
  }),
}

/** Goose, in the terminal and on the desktop. */
export const goose: ConnectTool = {
  name: 'goose',
  title: 'Goose',
  summary: 'an agent in the terminal and on the desktop',
  settings: (input) => ({
    environment: { ...keyEnvironment, GOOSE_PROVIDER: 'weir', GOOSE_MODEL: input.model.slug },
    files: [
      { path: '~/.config/goose/custom_providers/weir.json', format: 'json', content: gooseProvider(input) },
    ],
    command: 'goose session',
    notes: [
      'goose configure saves the provider and the model instead of the two variables, and the desktop program has them in its settings.',
    ],
  }),
}

/** OpenCode replaces `{env:…}` and `{file:…}` in the text of the file, before it is parsed. */
function opencodeFile(path: string, schema: string, input: ConnectInput): ToolFile {
  const keyReference = `"apiKey": "{env:${keyVariable}}"`
  const json = quotedJson({
    $schema: schema,
    model: `weir/${input.model.slug}`,
    provider: {
      weir: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Weir',
        options: { baseURL: baseUrl(input), apiKey: `{env:${keyVariable}}` },
        models: Object.fromEntries(input.models.map((model) => [model.slug, opencodeModel(model)])),
      },
    },
  })
  const literal = /"(?:[^"\\]|\\.)*"/g
  const escaped = json.replace(literal, (text) => escapeCharacter(text, '{'))
  const content = escaped.replace(escapeCharacter(keyReference, '{'), keyReference)
  return { path, format: 'json', content }
}

function opencodeModel({ displayName, contextWindow, maxOutputTokens, images }: ConnectModel): object {
  const hasLimits = contextWindow !== undefined && maxOutputTokens !== undefined
  return {
    name: displayName,
    ...(hasLimits && { limit: { context: contextWindow, output: maxOutputTokens } }),
    ...(images && { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } }),
  }
}

function qwenSettings(input: ConnectInput): string {
  const models = input.models.map(({ slug, displayName, contextWindow, images }) => ({
    id: slug,
    name: displayName,
    baseUrl: baseUrl(input),
    envKey: keyVariable,
    generationConfig: { contextWindowSize: contextWindow, modalities: { image: images } },
  }))
  return quotedJson({
    modelProviders: { openai: models },
    security: { auth: { selectedType: 'openai' } },
    model: { name: input.model.slug },
    privacy: { usageStatisticsEnabled: false },
  })
}

function gooseProvider(input: ConnectInput): string {
  return quotedJson({
    name: 'weir',
    engine: 'openai',
    display_name: 'Weir',
    api_key_env: keyVariable,
    base_url: `${baseUrl(input)}/chat/completions`,
    models: input.models.map(({ slug, contextWindow }) => ({
      name: slug,
      // Goose needs a number.
      context_limit: contextWindow ?? defaultContextWindow,
    })),
    supports_streaming: true,
  })
}
