/** The two APIs for conversations. */
export type GenerationApi = 'chat' | 'responses'

/** A message of the conversation; images are data URLs. */
export type PlaygroundMessage = {
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly images?: readonly string[]
}

/** What a person has set for the next request; an empty text is not sent. */
export type Parameters = {
  readonly api: GenerationApi
  readonly system: string
  readonly temperature: string
  readonly maxTokens: string
  readonly effort: string
  /** A JSON Schema that the answer must follow. */
  readonly schema: string
  readonly store: boolean
}

/** Nothing set. */
export const defaultParameters: Parameters = {
  api: 'chat',
  system: '',
  temperature: '',
  maxTokens: '',
  effort: '',
  schema: '',
  store: false,
}

/** A request to one model. */
export type GenerationRequest = {
  readonly model: string
  readonly messages: readonly PlaygroundMessage[]
  readonly parameters: Parameters
}

/** The path of an API. */
export const pathOf: Readonly<Record<GenerationApi, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
}

/** The body of the request in its API, with `stream`. Throws a sentence if the schema is not JSON. */
export function requestBody(request: GenerationRequest): Readonly<Record<string, unknown>> {
  return request.parameters.api === 'chat' ? chatBody(request) : responseBody(request)
}

function chatBody({ model, messages, parameters }: GenerationRequest) {
  const { system, temperature, maxTokens, effort, schema, store } = parameters
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.map(chatMessage)],
    ...numberField('temperature', temperature),
    ...numberField('max_completion_tokens', maxTokens),
    ...(effort !== '' && { reasoning_effort: effort }),
    ...(schema.trim() !== '' && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: parseSchema(schema) } },
    }),
    ...(store && { store }),
    stream: true,
    stream_options: { include_usage: true },
  }
}

function chatMessage({ role, text, images = [] }: PlaygroundMessage) {
  if (images.length === 0) return { role, content: text }
  const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }))
  return { role, content: [...(text === '' ? [] : [{ type: 'text', text }]), ...parts] }
}

function responseBody({ model, messages, parameters }: GenerationRequest) {
  const { system, temperature, maxTokens, effort, schema, store } = parameters
  return {
    model,
    ...(system !== '' && { instructions: system }),
    input: messages.map(inputMessage),
    ...numberField('temperature', temperature),
    ...numberField('max_output_tokens', maxTokens),
    ...(effort !== '' && { reasoning: { effort, summary: 'auto' } }),
    ...(schema.trim() !== '' && {
      text: { format: { type: 'json_schema', name: 'answer', schema: parseSchema(schema) } },
    }),
    store,
    stream: true,
  }
}

function inputMessage({ role, text, images = [] }: PlaygroundMessage) {
  if (images.length === 0) return { role, content: text }
  const parts = images.map((url) => ({ type: 'input_image', image_url: url }))
  return { role, content: [...(text === '' ? [] : [{ type: 'input_text', text }]), ...parts] }
}

/** The gateway says what is wrong with a number; what is no number at all is not sent. */
function numberField(name: string, text: string): Readonly<Record<string, number>> {
  const value = Number(text.replace(',', '.'))
  return text.trim() === '' || Number.isNaN(value) ? {} : { [name]: value }
}

function parseSchema(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The JSON Schema is not valid JSON.')
  }
}
