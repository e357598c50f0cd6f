import type { ResponseObject } from '../../src/api/responses/render/reply-schema.ts'
import type { Requester, RequestOptions } from './app.ts'
import { chunks, delta, doneFrame, usage } from './chat-fixtures.ts'
import { replayResponse, postResponse, createResponse, responsesPath } from './responses.ts'
import type { Scenario } from './scenario.ts'
import type { Script } from './script.ts'

/** Creates a background run and returns the queued response. */
export async function queueRun(
  app: Requester,
  body: object = {},
  options: RequestOptions = {},
): Promise<ResponseObject> {
  const received = await createResponse(app, { background: true, ...body }, options)
  if (received.status !== 'queued') throw new Error(`It is ${received.status} at once.`)
  return received
}

/** Creates a background run and returns its id and that of the request, which its usage row has. */
export async function queueRunRequest(app: Requester, body: object = {}, options: RequestOptions = {}) {
  const reply = await postResponse(app, { background: true, ...body }, options)
  if (reply.status !== 200) throw new Error(`It was refused: ${await reply.text()}`)
  const { id } = (await reply.json()) as ResponseObject
  return { id, request: reply.headers.get('x-request-id') ?? '' }
}

export function cancelRun(app: Requester, id: string, options: RequestOptions = {}): Promise<Response> {
  return app.request(`${responsesPath}/${id}/cancel`, { method: 'POST', ...options })
}

/** Cancels a run and returns the cancelled response. */
export async function cancelledRun(app: Requester, id: string): Promise<ResponseObject> {
  const reply = await cancelRun(app, id)
  if (reply.status !== 200) throw new Error(`It was not cancelled: ${await reply.text()}`)
  return (await reply.json()) as ResponseObject
}

export function deleteRun(app: Requester, id: string, options: RequestOptions = {}): Promise<Response> {
  return app.request(`${responsesPath}/${id}`, { method: 'DELETE', ...options })
}

/** Follows the events of a run to their end and returns the final response. */
export async function waitForRun(
  app: Requester,
  id: string,
  options: RequestOptions = {},
): Promise<ResponseObject> {
  const { last, text } = await replayResponse(app, id, '', options)
  if (last === undefined) throw new Error(`Its events have no end: ${text.slice(-300)}`)
  return last
}

/** Follows the events of a run until they contain this text, and disconnects. */
export async function waitForOutput(app: Requester, id: string, part: string): Promise<void> {
  const reader = (await app.request(`${responsesPath}/${id}?stream=true`)).body!.getReader()
  const decoder = new TextDecoder()
  for (let text = ''; !text.includes(part);) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`“${part}” never came: ${text.slice(-300)}`)
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
}

/** The default output as a stream that waits for the gate in the middle. */
export function gatedReply(gate: Promise<unknown>): Script {
  return chunks([...firstChunks, gate, ...lastChunks])
}

/** The first chunks of the default output, and the rest. */
export const firstChunks = [delta({ role: 'assistant', content: '' }), delta({ content: 'It is ' })]
export const lastChunks = [
  delta({ content: 'four metres.' }),
  delta({}, 'stop'),
  { choices: [], usage },
  doneFrame,
]

/** Starts a run and waits for its first output. */
export async function startRun({ app }: Pick<Scenario, 'app'>, body: object = {}): Promise<string> {
  const { id } = await queueRun(app, body)
  await waitForOutput(app, id, 'It is ')
  return id
}
