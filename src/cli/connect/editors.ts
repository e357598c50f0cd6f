import { escapeCharacter, quoted, quotedJson, shellWord } from '../quote.ts'
import {
  agentNotes,
  defaultContextWindow,
  keyText,
  keyVariable,
  type TemplateInput,
  tokenLimits,
  type ToolTemplate,
} from './tool.ts'

/** Editors and their extensions. */
export const editors: readonly ToolTemplate[] = [
  {
    name: 'vscode',
    title: 'Visual Studio Code',
    summary: 'the chat and the agent of GitHub Copilot in the editor',
    settings: (input) => ({
      environment: {},
      files: [{ path: 'chatLanguageModels.json', format: 'json', content: vscodeModels(input) }],
      notes: [
        ...agentNotes('the agent', input.model),
        'The command “Chat: Open Language Models (JSON)” opens the file. If it has entries, add this one to its list.',
        `Instead, “Chat: Manage Language Models”, Add Models, Custom Endpoint asks for the values and keeps the key, ${keyVariable}, in the key store of the system.`,
        'Then select the model in the menu of the chat. Completions while you type do not use it.',
      ],
    }),
  },
  {
    name: 'cline',
    title: 'Cline',
    summary: 'a coding agent in the terminal and in Visual Studio Code',
    settings: (input) => {
      const values = `--baseurl ${shellWord(input.url)} --modelid ${shellWord(input.slug)}`
      return {
        command: `cline auth --provider openai --apikey "$${keyVariable}" ${values}\ncline`,
        notes: [
          ...agentNotes('Cline', input.model),
          'In Visual Studio Code, open the settings of Cline, choose the API provider OpenAI Compatible, and enter the same base URL, key and model ID.',
        ],
      }
    },
  },
  {
    name: 'roo-code',
    title: 'Roo Code and Zoo Code',
    summary: 'agents in Visual Studio Code; Roo Code is discontinued, Zoo Code is its successor',
    settings: (input) => ({
      environment: {},
      notes: [
        'Open the settings of the extension, Providers, and choose the API provider OpenAI Compatible.',
        `Enter the base URL ${input.url}, ${keyText(input)} and the model ${input.slug}.`,
        ...agentNotes('the extension', input.model),
        'Roo Code has not been developed since May 2026. Use Zoo Code, Cline or Kilo Code instead.',
      ],
    }),
  },
  {
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
  },
  {
    name: 'cursor',
    title: 'Cursor',
    summary: 'an editor with an assistant',
    settings: (input) => ({
      environment: {},
      notes: [
        'Open Cursor Settings, Models, API Keys.',
        `Enable OpenAI API Key and enter ${keyText(input)}.`,
        `Enable Override OpenAI Base URL and enter ${input.url}.`,
        `Add a custom model with the name ${input.slug}, enable it, and select it in the chat.`,
        'The servers of Cursor send the requests, so Weir must be reachable from the internet with https: an address such as 127.0.0.1 is rejected.',
        'While the override is enabled, it applies to every OpenAI model of Cursor. Tab completion does not use it.',
      ],
    }),
  },
  {
    name: 'zed',
    title: 'Zed',
    summary: 'an editor with an assistant',
    settings: (input) => ({
      files: [{ path: '~/.config/zed/settings.json', format: 'json', content: zedSettings(input) }],
      notes: [
        'Add the settings to those that the file has.',
        `Zed reads ${keyVariable} when it is started from this shell; otherwise enter the API key in its settings, AI, LLM Providers.`,
      ],
    }),
  },
]

function vscodeModels(input: TemplateInput): string {
  const models = input.models.map((model) => ({
    id: model.slug,
    name: model.displayName,
    url: `${input.url}/chat/completions`,
    toolCalling: model.tools,
    vision: model.images,
    maxInputTokens: tokenLimits(model).prompt,
    maxOutputTokens: tokenLimits(model).output,
  }))
  const apiKey = input.key ?? `Replace this text with the value of ${keyVariable}.`
  return quotedJson([{ name: 'Weir', vendor: 'customendpoint', apiType: 'chat-completions', apiKey, models }])
}

function continueConfig(input: TemplateInput): string {
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
    apiBase: ${value(input.url)}
    apiKey: ${key}
    roles: [chat, edit, apply]
    capabilities: [${capabilities.join(', ')}]
${continueLimits(input.model)}`
}

/** Without limits, Continue shortens conversations to 32,768 tokens, and ends replies of most models after 4,096. */
function continueLimits(model: TemplateInput['model']): string {
  const { contextWindow } = model
  if (contextWindow === undefined) return ''
  // It takes what a reply may have from the conversation.
  const maxTokens = Math.min(tokenLimits(model).output, Math.floor(contextWindow / 4))
  return `    defaultCompletionOptions:
      contextLength: ${contextWindow}
      maxTokens: ${maxTokens}
`
}

function zedSettings(input: TemplateInput): string {
  const models = input.models.map(({ slug, displayName, contextWindow, maxOutputTokens, ...model }) => ({
    name: slug,
    display_name: displayName,
    // Zed needs a number.
    max_tokens: contextWindow ?? defaultContextWindow,
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    capabilities: {
      tools: model.tools,
      images: model.images,
      parallel_tool_calls: false,
      prompt_cache_key: false,
    },
  }))
  const provider = { api_url: input.url, available_models: models }
  return quotedJson({
    agent: { default_model: { provider: 'weir', model: input.model.slug } },
    language_models: { openai_compatible: { weir: provider } },
  })
}
