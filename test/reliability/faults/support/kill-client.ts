import { readStreamed } from '../../../support/chat-reply.ts'
import { readEvents } from '../../../support/responses.ts'
import { question } from '../../../support/scenario.ts'

/** What a client was told of a stored completion or response, and what it has asked for since. */
export type Told = {
  readonly path: string
  /** The request that made it. */
  readonly request: string
  readonly api: 'chat' | 'responses'
  /** What is certain of it: that it is there, as it was told, or that it is gone. */
  state: 'kept' | 'gone'
  /** What was told last; of a completion with the metadata that it had then. */
  object: { status?: string; metadata?: unknown }
  /** A change was asked for and not answered: either may be true. */
  unsure: boolean
}

/** What was told, by all clients of a gateway. */
export type Memory = { readonly stored: Told[]; readonly paid: Map<string, string> }

const chat = '/v1/chat/completions'
const responses = '/v1/responses'

export type Asking = (path: string, method: string, body?: object) => Promise<Response>

/** Asks, stores, changes, cancels and deletes at random until the gateway is gone. */
export async function liveUntilKilled(
  ask: Asking,
  memory: Memory,
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

async function act(ask: Asking, memory: Memory, draw: () => number): Promise<void> {
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

async function complete(ask: Asking, { stored, paid }: Memory, draw: () => number): Promise<void> {
  const [stream, store] = [draw() < 0.5, draw() < 0.6]
  const reply = await ask(chat, 'POST', { ...question, stream, store })
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

async function respond(ask: Asking, { stored, paid }: Memory, draw: () => number): Promise<void> {
  const [stream, store] = [draw() < 0.5, draw() < 0.6]
  const reply = await ask(responses, 'POST', { model: question.model, input: 'x', stream, store })
  const request = idOf(reply)
  if (!reply.ok) return void (await reply.text())
  const object = stream
    ? (await readEvents(reply)).last
    : ((await reply.json()) as { id: string; status: string })
  if (object?.status !== 'completed') return
  paid.set(request, reply.headers.get('x-weir-cost') ?? '')
  const told = { request, api: 'responses', state: 'kept', unsure: false } as const
  if (store) stored.push({ ...told, path: `${responses}/${object.id}`, object: { ...object } })
}

async function queue(ask: Asking, { stored }: Memory): Promise<void> {
  const reply = await ask(responses, 'POST', { model: question.model, input: 'x', background: true })
  const object = (await reply.json()) as { id: string; status: string }
  const told = { request: idOf(reply), api: 'responses', state: 'kept', unsure: false } as const
  if (reply.ok) stored.push({ ...told, path: `${responses}/${object.id}`, object })
}

/** Deleting one that is under way is refused, and changes nothing. */
async function remove(ask: Asking, told: Told): Promise<void> {
  told.unsure = true
  const reply = await ask(told.path, 'DELETE')
  await reply.text()
  told.unsure = false
  if (reply.ok) told.state = 'gone'
}

async function update(ask: Asking, told: Told, draw: () => number): Promise<void> {
  const metadata = { mark: Math.floor(draw() * 1e9) }
  told.unsure = true
  const reply = await ask(told.path, 'POST', { metadata })
  await reply.text()
  told.unsure = false
  if (reply.ok) told.object = { metadata }
}

async function read(ask: Asking, told: Told): Promise<void> {
  const reply = await ask(told.path, 'GET')
  const object = (await reply.json()) as Told['object']
  if (reply.ok) remember(told, object)
}

async function cancel(ask: Asking, told: Told): Promise<void> {
  const reply = await ask(`${told.path}/cancel`, 'POST')
  const object = (await reply.json()) as Told['object']
  if (reply.ok) remember(told, object)
}

/** Replies that cross may come in either order; one that is over stays what it is. */
function remember(told: Told, object: Told['object']): void {
  if (isOver(object) && !isOver(told.object)) told.object = object
}

/** Whether nothing will change any more. */
export function isOver({ status }: Told['object']): boolean {
  return status !== 'queued' && status !== 'in_progress'
}

function idOf({ headers }: Response): string {
  return headers.get('x-request-id') ?? ''
}
