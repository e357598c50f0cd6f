import type { ResponseStreamEvent } from '../../src/api/responses/render/event-schema.ts'
import type { InputItemList, ResponseObject } from '../../src/api/responses/render/reply-schema.ts'
import type { Requester, RequestOptions } from './app.ts'

export const responsesPath = '/v1/responses'

/** A minimal response request. */
export const responseRequest = { model: 'acme/river', input: 'How high is it?' }

/** Posts a response request: the minimal one with the fields of `body`. */
export function postResponse(
  app: Requester,
  body: object = {},
  options: RequestOptions = {},
): Promise<Response> {
  return app.request(responsesPath, { method: 'POST', body: { ...responseRequest, ...body }, ...options })
}

/** Creates a response and parses it; throws where the status is not 200. */
export async function createResponse(
  app: Requester,
  body: object = {},
  options: RequestOptions = {},
): Promise<ResponseObject> {
  return await bodyOf<ResponseObject>(await postResponse(app, body, options))
}

/** A parsed stream of response events. */
export type StreamedEvents = {
  readonly status: number
  readonly headers: Headers
  /** All of the body. */
  readonly text: string
  readonly events: readonly ResponseStreamEvent[]
  readonly types: readonly string[]
  /** The response of the last event; undefined where it has none. */
  readonly last: ResponseObject | undefined
}

/** Creates a streamed response and reads it to its end. */
export async function streamResponse(
  app: Requester,
  body: object = {},
  options: RequestOptions = {},
): Promise<StreamedEvents> {
  return await readEvents(await postResponse(app, { stream: true, ...body }, options))
}

/** Replays the events of a stored response; `query` is added to the query string. */
export async function replayResponse(
  app: Requester,
  id: string,
  query = '',
  options: RequestOptions = {},
): Promise<StreamedEvents> {
  return await readEvents(await app.request(`${responsesPath}/${id}?stream=true&${query}`, options))
}

/** Retrieves a stored response. */
export async function retrieveResponse(
  app: Requester,
  id: string,
  options: RequestOptions = {},
): Promise<ResponseObject> {
  return await bodyOf<ResponseObject>(await app.request(`${responsesPath}/${id}`, options))
}

/** The input items of a stored response; `query` is the query string. */
export async function listInputItems(
  app: Requester,
  id: string,
  query = '',
  options: RequestOptions = {},
): Promise<InputItemList> {
  return await bodyOf<InputItemList>(
    await app.request(`${responsesPath}/${id}/input_items?${query}`, options),
  )
}

/** Reads the stream to its end; throws where a frame is malformed. */
export async function readEvents(response: Response): Promise<StreamedEvents> {
  const text = await response.text()
  const type = response.headers.get('content-type')
  if (type !== 'text/event-stream; charset=utf-8') throw new Error(`This is no stream but ${type}: ${text}`)
  const frames = text.split('\n\n')
  if (frames.pop() !== '') throw new Error(`The last frame is not ended: ${text.slice(-200)}`)
  const events = frames.filter((frame) => frame !== ': keep-alive').map(eventOf)
  const last = events.at(-1)
  return {
    status: response.status,
    headers: response.headers,
    text,
    events,
    types: events.map((event) => event.type),
    last: last && 'response' in last ? last.response : undefined,
  }
}

function eventOf(frame: string): ResponseStreamEvent {
  const [, type, data] = /^event: ([a-z_.]+)\ndata: ([^\n]+)$/.exec(frame) ?? []
  const event = JSON.parse(data ?? 'null') as ResponseStreamEvent | null
  if (event === null || event.type !== type) throw new Error(`This is not a frame: ${frame.slice(0, 200)}`)
  return event
}

/** The text of the output. */
export function textOf({ output }: Pick<ResponseObject, 'output'>): string {
  return output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map(({ text }) => text)
    .join('')
}

/** The text of the reasoning. */
export function reasoningOf({ output }: Pick<ResponseObject, 'output'>): string {
  return output
    .flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
    .map(({ text }) => text)
    .join('')
}

async function bodyOf<Body>(reply: Response): Promise<Body> {
  if (reply.status !== 200) throw new Error(`There is none: ${await reply.text()}`)
  return (await reply.json()) as Body
}
