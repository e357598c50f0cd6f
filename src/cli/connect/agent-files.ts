import { escapeCharacter, quoted, quotedJson } from '../quote.ts'
import {
  type ConnectModel,
  defaultContextWindow,
  keyVariable,
  type TemplateInput,
  type ToolFile,
} from './tool.ts'

/** The configuration of Codex. */
export function codexConfig(input: TemplateInput): string {
  const { slug, contextWindow } = input.model
  return `model = ${quoted(slug)}
model_provider = "weir"
web_search = "disabled"
${contextWindow === undefined ? '' : `model_context_window = ${contextWindow}\n`}
[model_providers.weir]
name = "Weir"
base_url = ${quoted(input.url)}
env_key = "${keyVariable}"
wire_api = "responses"
supports_websockets = false

[agents]
enabled = false
`
}

/** The configuration of OpenCode, which replaces `{env:…}` and `{file:…}` in the text of the file, before it is parsed. */
export function opencodeFile(path: string, schema: string, input: TemplateInput): ToolFile {
  const keyReference = `"apiKey": "{env:${keyVariable}}"`
  const json = quotedJson({
    $schema: schema,
    model: `weir/${input.model.slug}`,
    provider: {
      weir: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Weir',
        options: { baseURL: input.url, apiKey: `{env:${keyVariable}}` },
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

/** The settings of Qwen Code. */
export function qwenSettings(input: TemplateInput): string {
  const models = input.models.map(({ slug, displayName, contextWindow, images }) => ({
    id: slug,
    name: displayName,
    baseUrl: input.url,
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

/** The models of Pi, which names its session in a header whose form it is given. */
export function piModels(input: TemplateInput): string {
  const models = input.models.map(({ slug, displayName, contextWindow, maxOutputTokens, images }) => ({
    id: slug,
    name: displayName,
    input: images ? ['text', 'image'] : ['text'],
    contextWindow,
    maxTokens: maxOutputTokens,
  }))
  return quotedJson({
    providers: {
      weir: {
        name: 'Weir',
        baseUrl: input.url,
        apiKey: `$${keyVariable}`,
        api: 'openai-completions',
        compat: { sendSessionAffinityHeaders: true, sessionAffinityFormat: 'openrouter' },
        models,
      },
    },
  })
}

/** A provider of Goose. */
export function gooseProvider(input: TemplateInput): string {
  return quotedJson({
    name: 'weir',
    engine: 'openai',
    display_name: 'Weir',
    api_key_env: keyVariable,
    base_url: `${input.url}/chat/completions`,
    models: input.models.map(({ slug, contextWindow }) => ({
      name: slug,
      // Goose needs a number.
      context_limit: contextWindow ?? defaultContextWindow,
    })),
    supports_streaming: true,
  })
}
