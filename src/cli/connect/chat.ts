import { isLoopback } from '../running-gateway.ts'
import { quoted } from '../quote.ts'
import { type ConnectModel, keyText, keyVariable, type TemplateInput, type ToolTemplate } from './tool.ts'

/** Pages for chats, workflows, and the command `llm`. */
export const chatTools: readonly ToolTemplate[] = [
  {
    name: 'open-webui',
    title: 'Open WebUI',
    summary: 'a chat page for the browser, in a container',
    settings: (input) => ({
      files: [{ path: 'compose.yaml', format: 'yaml', content: composeFile(input) }],
      command: 'docker compose up -d',
      notes: [
        ...containerNotes(input),
        'Open http://localhost:3000 and create the first account, which is the administrator. All models of Weir are in the menu.',
        'Open WebUI reads these variables at its first start only; later, change them in Admin Settings, Connections.',
        'With ENABLE_FORWARD_USER_INFO_HEADERS: "true" in the environment, weir usage --by user,session has its users and chats.',
        'It also generates titles, tags and follow-up questions with the model; Admin Settings, Interface disables that.',
      ],
    }),
  },
  {
    name: 'librechat',
    title: 'LibreChat',
    summary: 'a chat page for the browser, for teams',
    settings: (input) => ({
      files: [{ path: 'librechat.yaml', format: 'yaml', content: librechatConfig(input) }],
      command: 'docker compose up -d',
      notes: [
        ...containerNotes(input),
        'If the file exists, add the entry to its list of custom endpoints. It takes effect if docker-compose.override.yml mounts it into the container.',
        `LibreChat reads ${keyVariable} from its .env file: add it there as well.`,
        'All models of Weir are in its menu. It also generates titles with the model; titleConvo: false disables that.',
      ],
    }),
  },
  {
    name: 'n8n',
    title: 'n8n',
    summary: 'workflows with AI nodes',
    settings: (input) => ({
      environment: {},
      notes: [
        `Create a credential of the type OpenAI with ${keyText(input)} and the base URL ${containerAddress(input)}.`,
        `In the node OpenAI Chat Model, choose this credential and the model ${input.slug}, from the list or by its ID.`,
        'Its switch “Use Responses API” is enabled in new workflows. Disable it, or let Weir accept tools there with compatibility: { function_tools: true } in weir.yaml.',
        ...containerNotes(input),
      ],
    }),
  },
  {
    name: 'dify',
    title: 'Dify',
    summary: 'a platform for AI applications',
    settings: (input) => ({
      environment: {},
      notes: [
        'In Settings, Model Provider, install OpenAI-API-compatible and choose Add Model.',
        `Enter the model name ${input.slug}, ${keyText(input)} and the API endpoint URL ${containerAddress(input)}.`,
        `Choose the completion mode Chat${input.model.contextWindow === undefined ? '' : ` and the context size ${input.model.contextWindow}`}.`,
        `Choose function calling: ${input.model.tools ? 'Tool Call, and streamed: Support' : 'Not Support'}. Vision: ${input.model.images ? 'Support' : 'Not Support'}.`,
        ...containerNotes(input),
      ],
    }),
  },
  {
    name: 'llm',
    title: 'LLM',
    summary: 'the llm command of Datasette',
    settings: (input) => ({
      install: 'pip install llm',
      files: [
        {
          path: 'extra-openai-models.yaml',
          format: 'yaml',
          content: input.models.map((model) => llmEntry(model, input)).join(''),
        },
      ],
      command: `llm keys set weir --value "$${keyVariable}"\nllm -m weir/default 'Hello from Weir'`,
      notes: [
        'The file belongs in the folder that this command prints: dirname "$(llm logs path)". If it exists, add the entries to it.',
        'llm stores the key in keys.json, in the same folder.',
      ],
    }),
  },
]

/** Compose replaces variables in every value, so a `$` of a value is doubled. */
function composeFile(input: TemplateInput): string {
  const value = (text: string) => quoted(text.replaceAll('$', '$$$$'))
  return `services:
  open-webui:
    image: ghcr.io/open-webui/open-webui:main
    ports:
      - "127.0.0.1:3000:8080"
    environment:
      ENABLE_OLLAMA_API: "false"
      OPENAI_API_BASE_URL: ${value(containerAddress(input))}
      OPENAI_API_KEY: "\${${keyVariable}}"
      DEFAULT_MODELS: ${value(input.model.slug)}
    extra_hosts:
      - "host.docker.internal:host-gateway"
    volumes:
      - open-webui:/app/backend/data
    restart: unless-stopped
volumes:
  open-webui: {}
`
}

/** LibreChat replaces `${…}` in the values of the file. */
function librechatConfig(input: TemplateInput): string {
  const slugs = input.models.map(({ slug }) => quoted(slug)).join(', ')
  return `version: 1.3.17
cache: true
endpoints:
  custom:
    - name: "Weir"
      apiKey: "\${${keyVariable}}"
      baseURL: ${quoted(containerAddress(input))}
      models:
        default: [${slugs}]
        fetch: true
      titleConvo: true
      titleModel: "current_model"
      modelDisplayLabel: "Weir"
`
}

/** In a container, the loopback address is that of the container. */
function containerAddress(input: TemplateInput): string {
  if (!isLoopback(input.origin)) return input.url
  const url = new URL(input.url)
  url.hostname = 'host.docker.internal'
  return url.href
}

function containerNotes(input: TemplateInput): string[] {
  return isLoopback(input.origin)
    ? [
        `In the container, host.docker.internal stands for this machine, so the address is not ${input.url}. On Linux, Weir must also listen there: start it with --host 0.0.0.0 behind a firewall, or with the address of the bridge, often 172.17.0.1.`,
      ]
    : []
}

function llmEntry(model: ConnectModel, input: TemplateInput): string {
  return [
    `- model_id: ${quoted(`weir/${model.slug}`)}`,
    ...(model === input.model ? ['  aliases: ["weir/default"]'] : []),
    `  model_name: ${quoted(model.slug)}`,
    `  api_base: ${quoted(input.url)}`,
    '  api_key_name: weir',
    ...(model.tools ? ['  supports_tools: true'] : []),
    ...(model.schemas ? ['  supports_schema: true'] : []),
    ...(model.images ? ['  vision: true'] : []),
    '',
  ].join('\n')
}
