// Many clients in one process: bun test/reliability/load/background-client.ts URL KEY RUNS READERS. It queues so many background
// runs at once, follows each with so many readers, and prints what they received as JSON, of the type Followed.
export type Followed = {
  /** How many create requests returned a queued run. */
  readonly queued: number
  /** How many readers had all events, under numbers without a gap, with the end as the last one. */
  readonly complete: number
  /** How many runs sent the same bytes to all of their readers. */
  readonly identical: number
  /** How many runs had each text. */
  readonly texts: Readonly<Record<string, number>>
}

/** Milliseconds. */
const deadline = 120_000

/** If more than 512 connections wait to be accepted, the backlog that Bun requests of the kernel, some are reset. */
const maxConnecting = 400
let connecting = 0
const waiting: (() => void)[] = []

const [url = '', key = '', runs = '1', readers = '1'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const signal = AbortSignal.timeout(deadline)

if (import.meta.main) {
  const ids = await Promise.all(Array.from({ length: Number(runs) }, queue))
  const received = await Promise.all(ids.map(({ id }) => followAll(id)))
  const followed: Followed = {
    queued: ids.filter(({ status }) => status === 'queued').length,
    complete: received.flat().filter(isComplete).length,
    identical: received.filter((texts) => new Set(texts).size === 1).length,
    texts: tally(received.map(([text = '']) => wordsIn(text))),
  }
  console.log(JSON.stringify(followed))
}

async function queue(): Promise<{ readonly id: string; readonly status: string }> {
  const body = JSON.stringify({ model: 'acme/river', input: 'Count.', background: true })
  const reply = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body, signal })
  if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as { id: string; status: string }
}

function followAll(id: string): Promise<string[]> {
  return Promise.all(Array.from({ length: Number(readers) }, () => follow(id)))
}

async function follow(id: string): Promise<string> {
  const reply = await connected(() => fetch(`${url}/v1/responses/${id}?stream=true`, { headers, signal }))
  if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`)
  return (await reply.text()).replaceAll(': keep-alive\n\n', '')
}

/** All readers read at the same time, but so many at most connect. */
async function connected<Reply>(connect: () => Promise<Reply>): Promise<Reply> {
  if (connecting < maxConnecting) connecting += 1
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await connect()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else connecting -= 1
  }
}

function isComplete(text: string): boolean {
  const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map((match) => Number(match[1]))
  const last = text.lastIndexOf('event: ')
  return (
    numbers.every((number, index) => number === index) && text.startsWith('event: response.completed', last)
  )
}

function wordsIn(text: string): string {
  return [...text.matchAll(/"delta":"([^"]*)"/g)].map((match) => match[1]).join('')
}

function tally(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1
  return counts
}
