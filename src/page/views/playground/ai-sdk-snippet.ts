import { type GenerationRequest, numberField, type Parameters, toMessage } from '../../api/generate.ts'

/** The variable that has the key: code is shared, a key is not. */
export const keyVariable = 'WEIR_API_KEY'

/** The request for the AI SDK, which has names of its own for what it sends. */
export function aiSdk(baseUrl: string, request: GenerationRequest): string {
  const { schema } = request.parameters
  const schemaText = schema.trim()
  const lines = typescriptLiteral(optionsOf(request)).split('\n').slice(1, -1)
  const provider = request.parameters.api === 'chat' ? chatProvider : responsesProvider
  const output = schemaText === '' ? [] : [`  output: Output.object({ schema: jsonSchema(${schemaText}) }),`]
  return [
    provider.importLine,
    `import { ${schemaText === '' ? 'streamText' : 'jsonSchema, Output, streamText'} } from 'ai'`,
    '',
    `const weir = ${provider.factory}({`,
    `  baseURL: ${JSON.stringify(baseUrl)},`,
    `  apiKey: process.env.${keyVariable},`,
    ...provider.settings,
    '})',
    'const { textStream } = streamText({',
    `  model: weir${provider.method}(${JSON.stringify(request.model)}),`,
    ...output,
    ...lines,
    '})',
    'for await (const text of textStream) process.stdout.write(text)',
  ].join('\n')
}

const chatProvider = {
  importLine: "import { createOpenAICompatible } from '@ai-sdk/openai-compatible'",
  factory: 'createOpenAICompatible',
  settings: ["  name: 'weir',", '  includeUsage: true,', '  supportsStructuredOutputs: true,'],
  method: '',
}

const responsesProvider = {
  importLine: "import { createOpenAI } from '@ai-sdk/openai'",
  factory: 'createOpenAI',
  settings: [],
  method: '.responses',
}

function optionsOf({ messages, parameters }: GenerationRequest) {
  const { api, temperature, maxTokens, system } = parameters
  const imagePart = (image: string) => ({ type: 'image', image })
  const chat = chatOptions(parameters)
  return {
    ...(system !== '' && { system }),
    messages: messages.map((message) => toMessage(message, 'text', imagePart)),
    ...numberField('temperature', temperature),
    ...numberField('maxOutputTokens', maxTokens),
    ...(api === 'responses' && { providerOptions: { openai: responsesOptions(parameters) } }),
    ...(api === 'chat' && Object.keys(chat).length > 0 && { providerOptions: { weir: chat } }),
  }
}

function chatOptions({ effort, schema, store }: Parameters) {
  return {
    ...(effort !== '' && { reasoningEffort: effort }),
    ...(schema.trim() !== '' && { strictJsonSchema: false }),
    ...(store && { store }),
  }
}

/** The SDK omits the effort where it does not know the model as one that reasons. */
function responsesOptions({ effort, schema, store }: Parameters) {
  return {
    store,
    ...(effort !== '' && { forceReasoning: true, reasoningEffort: effort, reasoningSummary: 'auto' }),
    ...(schema.trim() !== '' && { strictJsonSchema: false }),
  }
}

/** JSON as a literal of TypeScript. */
export function typescriptLiteral(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([a-zA-Z_]\w*)": /gm, '$1$2: ')
}
