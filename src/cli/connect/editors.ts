import { escapeCharacter, quoted, quotedJson } from '../quote.ts'
import { baseUrl, type ConnectInput, type ConnectTool, keyEnvironment, keyVariable } from './tool.ts'

/** Continue, for Visual Studio Code and JetBrains. */
export const continueDev: ConnectTool = {
  name: 'continue',
  title: 'Continue',
  summary: 'an assistant in Visual Studio Code and JetBrains',
  settings: (input) => ({
    environment: {},
    files: [{ path: '~/.continue/config.yaml', format: 'yaml', content: continueConfig(input) }],
    notes: [
      'If the file exists, add the entry to its list of models.',
      ...(input.key === undefined
        ? [`Write the API key to ~/.continue/.env, as a line ${keyVariable}=sk-weir-….`]
        : []),
    ],
  }),
}

/** Cursor, which has its settings in a window and not in a file. */
export const cursor: ConnectTool = {
  name: 'cursor',
  title: 'Cursor',
  summary: 'an editor with an assistant',
  settings: (input) => ({
    environment: {},
    files: [],
    notes: [
      'Open Cursor Settings, Models, API Keys.',
      `Enable OpenAI API Key and enter ${input.key ?? 'the API key'}.`,
      `Enable Override OpenAI Base URL and enter ${baseUrl(input)}.`,
      `Add a custom model with the name ${input.model.slug}, enable it, and select it in the chat.`,
      'The servers of Cursor send the requests, so Weir must be reachable from the internet with https: an address such as 127.0.0.1 is rejected.',
      'While the override is enabled, it applies to every OpenAI model of Cursor. Tab completion does not use it.',
    ],
  }),
}

/** Zed. */
export const zed: ConnectTool = {
  name: 'zed',
  title: 'Zed',
  summary: 'an editor with an assistant',
  settings: (input) => ({
    environment: keyEnvironment,
    files: [{ path: '~/.config/zed/settings.json', format: 'json', content: zedSettings(input) }],
    notes: [
      'Add the settings to those that the file has.',
      `Zed reads ${keyVariable} when it is started from this shell; otherwise enter the API key in its settings, AI, LLM Providers.`,
    ],
  }),
}

function continueConfig(input: ConnectInput): string {
  // Continue replaces ${{ … }} in the text of the file, before it is parsed.
  const value = (text: string) => escapeCharacter(quoted(text), '$')
  const { slug, displayName, tools, images } = input.model
  const capabilities = [...(tools ? ['tool_use'] : []), ...(images ? ['image_input'] : [])]
  const key = input.key === undefined ? `"\${{ secrets.${keyVariable} }}"` : value(input.key)
  return `name: Weir
version: 1.0.0
schema: v1
models:
  - name: ${value(displayName)}
    provider: openai
    model: ${value(slug)}
    apiBase: ${value(baseUrl(input))}
    apiKey: ${key}
    roles: [chat, edit, apply]
    capabilities: [${capabilities.join(', ')}]
`
}

function zedSettings(input: ConnectInput): string {
  const models = input.models.map(({ slug, displayName, contextWindow, maxOutputTokens, ...model }) => ({
    name: slug,
    display_name: displayName,
    // Zed needs a number: this one suits most models whose window is not known.
    max_tokens: contextWindow ?? 128_000,
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    capabilities: {
      tools: model.tools,
      images: model.images,
      parallel_tool_calls: false,
      prompt_cache_key: false,
    },
  }))
  const provider = { api_url: baseUrl(input), available_models: models }
  return quotedJson({
    agent: { default_model: { provider: 'weir', model: input.model.slug } },
    language_models: { openai_compatible: { weir: provider } },
  })
}
