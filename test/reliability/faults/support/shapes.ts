import { connect } from 'node:net'
import { join } from 'node:path'
import { waitUntil } from '../../../support/billing-database.ts'
import { createGatewayProcess, type GatewayProcess } from '../../money/support/gateway-process.ts'
import { pricing } from '../../../support/billing-scenario.ts'
import { firstKey } from '../../../support/app.ts'
import { chatRequest } from '../../../support/scenario.ts'
import { projectFolder } from '../../../support/source.ts'
import { memoryOf } from './gateway-memory.ts'
import { startShapesProvider } from './shapes-provider.ts'

/** The state of the gateway after requests of hostile shapes. */
export type Shaped = {
  /** Of all replies, how many had each status; 0 for a connection that ended without one. */
  readonly statuses: Readonly<Record<string, number>>
  /** In MiB: before, at the highest and after each shape. */
  readonly memory: Readonly<Record<string, number>>
  /** In milliseconds: the longest that another client waited for `/livez` during each shape. */
  readonly waits: Readonly<Record<string, number>>
  /** At the end: the bytes that requests have not released, and the open calls. */
  readonly held: number
  readonly open: number
}

/** The replies that no shape may get: a 5xx other than 503. */
export function unwanted({ statuses }: Shaped): readonly string[] {
  return Object.keys(statuses).filter((name) => / 5\d\d$/.test(name) && !name.endsWith(' 503'))
}

type World = {
  readonly gateway: GatewayProcess
  readonly scale: number
  ask(path: string, body?: object | string): Promise<Response>
}

const MB = 1_000_000
const key = `authorization: Bearer ${firstKey}`

/** Sends every shape, one after the other, to a new gateway; `scale` is 1 for the long form. */
export async function sendShapes(scale: number): Promise<Shaped> {
  const provider = startShapesProvider()
  await using gateway = await createGatewayProcess(provider.url, pricing, { log: 'off' })
  await gateway.start()
  const statuses: Record<string, number> = {}
  const count = (name: string, status: number) => {
    statuses[`${name} ${status}`] = (statuses[`${name} ${status}`] ?? 0) + 1
  }
  const memory: Record<string, number> = { before: Math.round(await memoryOf(gateway.pid())) }
  const waits: Record<string, number> = {}
  await using probe = startProbe(gateway.url())
  try {
    for (const [name, shape] of Object.entries(shapes)) {
      const watched = watchMemory(gateway)
      const found = await shape({ gateway, scale, ask: (path, body) => ask(gateway, path, body) })
      for (const status of found) count(name, status)
      const isReleased = async () => (await heldBytes(gateway)) === 0
      await waitUntil(isReleased, `nothing to be held after ${name}`)
      memory[name] = watched.highest()
      waits[name] = probe.worst()
    }
    memory.after = Math.round(await memoryOf(gateway.pid()))
    const open = await gateway.books.openReservations()
    return { statuses, memory, waits, held: await heldBytes(gateway), open }
  } finally {
    await provider.stop()
  }
}

/** Each gives the statuses of its replies. */
const shapes: Readonly<Record<string, (world: World) => Promise<readonly number[]>>> = {
  wideObjects,
  pages,
  references,
  unfinishedBodies,
  longChain,
  leavingAtTheEnd,
}

/** Objects of many keys, wherever one may be. */
async function wideObjects({ ask, scale }: World): Promise<readonly number[]> {
  const names = Array.from({ length: 200_000 * scale }, (_, index) => [`key_${index}`, 1] as const)
  const wide = Object.fromEntries(names)
  const bodies = [
    { ...chatRequest, ...wide },
    { ...chatRequest, logit_bias: wide },
    { ...chatRequest, metadata: wide, store: true },
    { ...chatRequest, messages: [{ role: 'user', content: 'Hi', ...wide }] },
    { ...chatRequest, trace: { id: 'a', metadata: wide } },
  ]
  const replies = await inTurn(bodies, (body) => ask('/v1/chat/completions', body))
  const input = [{ type: 'message', role: 'user', content: 'Hi', ...wide }]
  return [...replies, await statusOf(await ask('/v1/responses', { model: chatRequest.model, input }))]
}

/** Lists of completions that are large, read by clients of which some take nothing. */
async function pages({ ask, gateway, scale }: World): Promise<readonly number[]> {
  const large = { ...chatRequest, store: true, user: String(3 * MB) }
  const stored = await inTurn(Array.from({ length: 40 * scale }), () => ask('/v1/chat/completions', large))
  const lists = Array.from({ length: 16 * scale }, () => ask('/v1/chat/completions?limit=100'))
  const lazy = Array.from({ length: 40 * scale }, () =>
    send(gateway, `GET /v1/chat/completions?limit=100 HTTP/1.1\r\nhost: a\r\n${key}\r\n\r\n`),
  )
  const statuses = await Promise.all(lists.map(async (list) => statusOf(await list)))
  await Bun.sleep(500)
  for (const connection of lazy) connection.destroy()
  return [...stored, ...statuses]
}

/** One large item that is referred to again and again. */
async function references({ ask, scale }: World): Promise<readonly number[]> {
  const { model } = chatRequest
  const item = { type: 'message', role: 'user', content: 'x'.repeat(100_000) }
  const { id } = (await (await ask('/v1/responses', { model, input: [item] })).json()) as { id: string }
  const items = (await (await ask(`/v1/responses/${id}/input_items`)).json()) as { data: { id: string }[] }
  const input = Array.from({ length: 700 * scale }, () => ({ type: 'item_reference', id: items.data[0]?.id }))
  return await inTurn(Array.from({ length: 5 }), () => ask('/v1/responses', { model, input }))
}

/** Bodies of the largest size that never end. */
async function unfinishedBodies({ gateway, ask, scale }: World): Promise<readonly number[]> {
  const size = 31 * MB
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n${key}\r\ncontent-length: ${size}\r\n\r\n`
  const body = Buffer.alloc(size - 1, ' ')
  const open = Array.from({ length: 60 * scale }, () => {
    const connection = send(gateway, head)
    connection.write(body)
    return connection
  })
  await Bun.sleep(3000 * scale)
  const other = await statusOf(await ask('/v1/models'))
  for (const connection of open) connection.destroy()
  return [other]
}

/** Small requests that follow a conversation of 55 MB. */
async function longChain({ ask, scale }: World): Promise<readonly number[]> {
  const { model } = chatRequest
  const follow = (input: string, previous?: string) =>
    ask('/v1/responses', { model, input, previous_response_id: previous })
  const first = (await (await follow('x'.repeat(30 * MB * scale))).json()) as { id: string }
  const parts = Array.from({ length: 100_000 * scale }, () => ({ type: 'input_text', text: 'y'.repeat(250) }))
  const second = await ask('/v1/responses', {
    model,
    input: [{ type: 'message', role: 'user', content: parts }],
    previous_response_id: first.id,
  })
  const { id } = (await second.json()) as { id: string }
  const replies = Array.from({ length: 40 * scale }, () => follow('And now?', id))
  return await Promise.all(replies.map(async (reply) => statusOf(await reply)))
}

/** Streams whose client disconnects between the end of the response and its usage. */
async function leavingAtTheEnd({ gateway, scale }: World): Promise<readonly number[]> {
  const left = Array.from({ length: 200 * scale }, async () => {
    const aborting = new AbortController()
    const body = JSON.stringify({ ...chatRequest, stream: true })
    const sent = { method: 'POST', headers: headersOf(), body, signal: aborting.signal }
    const reply = await fetch(`${gateway.url()}/v1/chat/completions`, sent)
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of reply.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.includes('"finish_reason":"stop"')) break
    }
    aborting.abort()
    return reply.status
  })
  const statuses = await Promise.all(left)
  await waitUntil(async () => (await gateway.books.openReservations()) === 0, 'the end of every call')
  return statuses
}

function headersOf() {
  return { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' }
}

function ask(gateway: GatewayProcess, path: string, body?: object | string): Promise<Response> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  const method = text === undefined ? 'GET' : 'POST'
  return fetch(gateway.url() + path, { method, headers: headersOf(), body: text })
}

async function statusOf(reply: Response): Promise<number> {
  await reply.arrayBuffer()
  return reply.status
}

async function inTurn<Item>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Response>,
): Promise<readonly number[]> {
  const statuses: number[] = []
  for (const item of items) statuses.push(await statusOf(await ask(item)))
  return statuses
}

/** A connection that sends this, and reads nothing. */
function send(gateway: GatewayProcess, text: string) {
  const { hostname, port } = new URL(gateway.url())
  const connection = connect(Number(port), hostname)
  connection.on('error', () => {})
  connection.pause()
  connection.write(text)
  return connection
}

async function heldBytes(gateway: GatewayProcess): Promise<number> {
  const text = await (await fetch(`${gateway.url()}/metrics`)).text()
  return Number(/^weir_memory_in_flight_bytes (\d+)$/m.exec(text)?.[1])
}

function watchMemory(gateway: GatewayProcess) {
  let highest = 0
  const look = async () => void (highest = Math.max(highest, await memoryOf(gateway.pid())))
  const timer = setInterval(() => void look(), 50)
  return {
    highest() {
      clearInterval(timer)
      return Math.round(highest)
    },
  }
}

function startProbe(url: string) {
  const command = [
    process.execPath,
    join(projectFolder, 'test/reliability/faults/support/livez-probe.ts'),
    url,
  ]
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  let worst = 0
  const reading = (async () => {
    for await (const bytes of child.stdout)
      for (const line of new TextDecoder().decode(bytes).split('\n')) worst = Math.max(worst, Number(line))
  })()
  return {
    /** The longest wait since the last look, in milliseconds. */
    worst() {
      const found = worst
      worst = 0
      return found
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await reading
    },
  }
}
