import type { ResponseObject } from '../../../../src/api/responses/render/reply-schema.ts'
import {
  act,
  type Acknowledged,
  type AcknowledgedObject,
  type SendRequest,
} from '../../faults/support/kill-client.ts'
import { readEvents } from '../../../support/responses.ts'
import { chatRequest } from '../../../support/scenario.ts'
import { runInput } from './replica-provider.ts'
import type { Replicas } from './replicas.ts'

/** What was acknowledged to the clients of several gateways, and what should not have been replied. */
export type ReplicaLoad = {
  readonly memory: Acknowledged
  readonly ask: SendRequest
  readonly draw: () => number
  /** Replies that contradict what was acknowledged before. */
  readonly findings: string[]
  /** How often a stream that another process executes was followed to its end. */
  readonly followed: { count: number }
}

/** Sends each request to any of the gateways, over a connection of its own. */
export function askAnywhere(replicas: Pick<Replicas, 'urls'>, key: string, draw: () => number): SendRequest {
  return (path, method, body) => {
    const urls = replicas.urls()
    return askAt(urls[Math.floor(draw() * urls.length)] ?? '', key)(path, method, body)
  }
}

/** Sends each request to this gateway, over a connection of its own. */
export function askAt(url: string, key: string): SendRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return (path, method, body) =>
    fetch(url + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
      keepalive: false,
    })
}

/** Sends all kinds of requests until the signal, whatever happens to the gateways. */
export async function sendUntil(load: ReplicaLoad, ended: AbortSignal): Promise<void> {
  while (!ended.aborted)
    try {
      await actOnce(load)
    } catch (error) {
      if (error instanceof Error && error.name === 'AssertionError') throw error
      // The connection broke with its gateway.
      await Bun.sleep(20)
    }
}

async function actOnce(load: ReplicaLoad): Promise<void> {
  const { memory, ask, draw } = load
  const kind = draw()
  if (kind < 0.2) return await queueAndFollow(load)
  if (kind < 0.35) return await continueConversation(load)
  if (kind < 0.5) return await retrieve(load)
  return await act(ask, memory, draw)
}

/** The run is executed and followed anywhere. */
async function queueAndFollow({ memory, ask, draw, followed, findings }: ReplicaLoad): Promise<void> {
  const input = `${runInput} ${crypto.randomUUID()}`
  const reply = await ask('/v1/responses', 'POST', { model: chatRequest.model, input, background: true })
  if (!reply.ok) return void (await reply.text())
  const object = (await reply.json()) as ResponseObject
  const request = reply.headers.get('x-request-id') ?? ''
  const path = `/v1/responses/${object.id}`
  const known: AcknowledgedObject = {
    path,
    request,
    api: 'responses',
    state: 'kept',
    object: { ...object },
    unsure: false,
  }
  memory.stored.push(known)
  if (draw() < 0.3) return
  const stream = await ask(`${path}?stream=true`, 'GET')
  if (stream.status === 404 && isKept(known)) findings.push(`${path} was not found to be followed.`)
  if (!stream.ok) return void (await stream.text())
  const { last } = await readEvents(stream)
  if (last === undefined) return
  followed.count++
  // A run that was deleted meanwhile ends like a cancelled one.
  if (isKept(known)) known.object = { ...last }
}

async function continueConversation({ memory, ask, draw, findings }: ReplicaLoad): Promise<void> {
  const completed = memory.stored.filter((known) => known.object.status === 'completed' && isKept(known))
  const known = completed[completed.length - 1 - Math.floor(draw() ** 3 * completed.length)]
  if (known === undefined) return
  const previous = known.path.slice('/v1/responses/'.length)
  const body = { model: chatRequest.model, input: 'And now?', previous_response_id: previous }
  const reply = await ask('/v1/responses', 'POST', body)
  const text = await reply.text()
  if ([400, 404].includes(reply.status) && isKept(known))
    findings.push(`${known.path} was not found to be continued: ${text}`)
}

async function retrieve({ memory, ask, draw, findings }: ReplicaLoad): Promise<void> {
  const known = memory.stored[memory.stored.length - 1 - Math.floor(draw() ** 3 * memory.stored.length)]
  if (known === undefined || !isKept(known)) return
  const reply = await ask(known.path, 'GET')
  await reply.text()
  if (reply.status === 404 && isKept(known)) findings.push(`${known.path} was not found.`)
}

function isKept({ state, unsure }: AcknowledgedObject): boolean {
  return state === 'kept' && !unsure
}
