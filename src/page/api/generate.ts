import { parseJson } from '../../lib/json/json.ts'
import { Answer } from './answer.ts'
import { createResponseEventParser, parseChatEvent } from './answer-events.ts'
import { type ApiClient, readEvents } from './client.ts'
import { isAbort, toFailure } from './failure.ts'

/** The two APIs for conversations. */
type GenerationApi = 'chat' | 'responses'

/** A message of the conversation; images are data URLs. */
export type PlaygroundMessage = {
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly images?: readonly string[]
}

/** The settings of the next request; an empty text is not sent. */
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

/** A call in progress: its request, its answer, and how to stop it. */
export type GenerationCall = {
  readonly request: GenerationRequest
  readonly answer: Answer
  readonly stop: () => void
  readonly done: Promise<void>
}

/** Characters. A longer answer is stopped: the page could not show it. */
const maxAnswerLength = 8 * 1024 * 1024

/** Sends the request, and fills the answer from its stream. */
export function generate(api: ApiClient, request: GenerationRequest): GenerationCall {
  const controller = new AbortController()
  const answer = new Answer(performance.now())
  const stop = () => controller.abort()
  return { request, answer, stop, done: run(api, request, answer, controller.signal) }
}

async function run(
  api: ApiClient,
  request: GenerationRequest,
  answer: Answer,
  signal: AbortSignal,
): Promise<void> {
  try {
    const response = await api.open(pathOf[request.parameters.api], {
      method: 'POST',
      body: JSON.stringify(requestBody(request)),
      headers: { 'content-type': 'application/json' },
      signal,
    })
    answer.requestId = response.headers.get('x-request-id') ?? undefined
    const parse = request.parameters.api === 'chat' ? parseChatEvent : createResponseEventParser()
    await readEvents(response, (events) => {
      for (const { data } of events) answer.add(parse(data) ?? {}, performance.now())
      if (answer.text.length + answer.reasoning.length > maxAnswerLength)
        throw new Error('The answer is too long to show.')
    })
    answer.end('finished', performance.now())
  } catch (error) {
    if (isAbort(error)) answer.end('stopped', performance.now())
    else answer.end('failed', performance.now(), toFailure(error))
  }
}

/** The path of an API. */
export const pathOf = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
} as const satisfies Readonly<Record<GenerationApi, string>>

/** The body of the request in its API, with `stream`. Throws a sentence if the schema is not JSON. */
export function requestBody(request: GenerationRequest): Readonly<Record<string, unknown>> {
  return request.parameters.api === 'chat' ? chatBody(request) : responseBody(request)
}

function chatBody({ model, messages, parameters }: GenerationRequest) {
  const { system, temperature, maxTokens, effort, schema, store } = parameters
  const imagePart = (url: string) => ({ type: 'image_url', image_url: { url } })
  return {
    model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.map((message) => toMessage(message, 'text', imagePart)),
    ],
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

function responseBody({ model, messages, parameters }: GenerationRequest) {
  const { system, temperature, maxTokens, effort, schema, store } = parameters
  const imagePart = (url: string) => ({ type: 'input_image', image_url: url })
  return {
    model,
    ...(system !== '' && { instructions: system }),
    input: messages.map((message) => toMessage(message, 'input_text', imagePart)),
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

/** A message in its API: with text alone, or with a part for the text, unless it is empty, and one for each image. */
export function toMessage(
  { role, text, images = [] }: PlaygroundMessage,
  textType: string,
  imagePart: (url: string) => object,
) {
  if (images.length === 0) return { role, content: text }
  return { role, content: [...(text === '' ? [] : [{ type: textType, text }]), ...images.map(imagePart)] }
}

/** The gateway says what is wrong with a number; what is no number at all is not sent. */
export function numberField(name: string, text: string): Readonly<Record<string, number>> {
  const value = Number(text.replace(',', '.'))
  return text.trim() === '' || Number.isNaN(value) ? {} : { [name]: value }
}

function parseSchema(text: string): unknown {
  const schema = parseJson(text)
  if (schema === undefined) throw new Error('The JSON Schema is not valid JSON.')
  return schema
}
