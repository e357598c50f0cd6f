import { readStreamed } from '../../../support/chat-reply.ts'
import { readEvents } from '../../../support/responses.ts'
import { chatRequest } from '../../../support/scenario.ts'

/** What was acknowledged about a stored completion or response, and what was requested since. */
export type AcknowledgedObject = {
  readonly path: string
  /** The request that made it. */
  readonly request: string
  readonly api: 'chat' | 'responses'
  /** Its known state: it exists as acknowledged, or it was deleted. */
  state: 'kept' | 'gone'
  /** The last reply; for a completion with its metadata at the time. */
  object: { status?: string; metadata?: unknown }
  /** A change was requested and not acknowledged: either state is possible. */
  unsure: boolean
}

/** What was acknowledged to all clients of a gateway. */
export type Acknowledged = { readonly stored: AcknowledgedObject[]; readonly paid: Map<string, string> }

const chat = '/v1/chat/completions'
const responses = '/v1/responses'

export type SendRequest = (path: string, method: string, body?: object) => Promise<Response>

/** Requests, stores, changes, cancels and deletes at random until the gateway is killed. */
export async function runUntilKilled(
  ask: SendRequest,
  memory: Acknowledged,
  draw: () => number,
  dying: AbortSignal,
): Promise<void> {
  try {
    while (!dying.aborted) await act(ask, memory, draw)
  } catch (error) {
    // The connection broke with the gateway, or in the middle of a stream.
    if (error instanceof Error && error.name === 'AssertionError') throw error
  }
}

/** Sends one request at random, and notes what is acknowledged. */
export async function act(ask: SendRequest, memory: Acknowledged, draw: () => number): Promise<void> {
  const kind = draw()
  const known = memory.stored[memory.stored.length - 1 - Math.floor(draw() ** 2 * memory.stored.length)]
  if (kind < 0.3) return await complete(ask, memory, draw)
  if (kind < 0.5) return await respond(ask, memory, draw)
  if (kind < 0.65) return await queue(ask, memory)
  if (!known || known.unsure || known.state === 'gone') return
  if (kind < 0.75) return await remove(ask, known)
  if (known.api === 'chat') return await update(ask, known, draw)
  return kind < 0.9 ? await read(ask, known) : await cancel(ask, known)
}

async function complete(ask: SendRequest, { stored, paid }: Acknowledged, draw: () => number): Promise<void> {
  const [stream, store] = [draw() < 0.5, draw() < 0.6]
  const reply = await ask(chat, 'POST', { ...chatRequest, stream, store })
  const request = idOf(reply)
  if (!reply.ok) return void (await reply.text())
  let id: string | undefined
  if (stream) {
    const { done, chunks } = await readStreamed(reply)
    if (!done) return
    id = chunks[0]?.id
  } else id = ((await reply.json()) as { id: string }).id
  paid.set(request, reply.headers.get('x-weir-cost') ?? '')
  if (store)
    stored.push({ path: `${chat}/${id}`, request, api: 'chat', state: 'kept', object: {}, unsure: false })
}

async function respond(ask: SendRequest, { stored, paid }: Acknowledged, draw: () => number): Promise<void> {
  const [stream, store] = [draw() < 0.5, draw() < 0.6]
  const reply = await ask(responses, 'POST', { model: chatRequest.model, input: 'x', stream, store })
  const request = idOf(reply)
  if (!reply.ok) return void (await reply.text())
  const object = stream
    ? (await readEvents(reply)).last
    : ((await reply.json()) as { id: string; status: string })
  if (object?.status !== 'completed') return
  paid.set(request, reply.headers.get('x-weir-cost') ?? '')
  const received = { request, api: 'responses', state: 'kept', unsure: false } as const
  if (store) stored.push({ ...received, path: `${responses}/${object.id}`, object: { ...object } })
}

async function queue(ask: SendRequest, { stored }: Acknowledged): Promise<void> {
  const reply = await ask(responses, 'POST', { model: chatRequest.model, input: 'x', background: true })
  const object = (await reply.json()) as { id: string; status: string }
  const received = { request: idOf(reply), api: 'responses', state: 'kept', unsure: false } as const
  if (reply.ok) stored.push({ ...received, path: `${responses}/${object.id}`, object })
}

/** Deleting one that is under way is refused, and changes nothing. */
async function remove(ask: SendRequest, received: AcknowledgedObject): Promise<void> {
  received.unsure = true
  const reply = await ask(received.path, 'DELETE')
  await reply.text()
  received.unsure = false
  if (reply.ok) received.state = 'gone'
}

async function update(ask: SendRequest, received: AcknowledgedObject, draw: () => number): Promise<void> {
  const metadata = { mark: Math.floor(draw() * 1e9) }
  received.unsure = true
  const reply = await ask(received.path, 'POST', { metadata })
  await reply.text()
  received.unsure = false
  if (reply.ok) received.object = { metadata }
}

async function read(ask: SendRequest, received: AcknowledgedObject): Promise<void> {
  const reply = await ask(received.path, 'GET')
  const object = (await reply.json()) as AcknowledgedObject['object']
  if (reply.ok) remember(received, object)
}

async function cancel(ask: SendRequest, received: AcknowledgedObject): Promise<void> {
  const reply = await ask(`${received.path}/cancel`, 'POST')
  const object = (await reply.json()) as AcknowledgedObject['object']
  if (reply.ok) remember(received, object)
}

/** Replies that cross may come in either order; one that is over stays what it is. */
function remember(received: AcknowledgedObject, object: AcknowledgedObject['object']): void {
  if (isFinished(object) && !isFinished(received.object)) received.object = object
}

/** Whether nothing will change any more. */
export function isFinished({ status }: AcknowledgedObject['object']): boolean {
  return status !== 'queued' && status !== 'in_progress'
}

function idOf({ headers }: Response): string {
  return headers.get('x-request-id') ?? ''
}
