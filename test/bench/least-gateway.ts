// The least gateway on the libraries of Weir: bun test/bench/least-gateway.ts BILLING UPSTREAM FOLDER. It has one key, one model,
// one provider and no settings, and takes every short cut that these allow. It authenticates, validates, forwards, prices,
// logs and records each request, and BILLING `prepaid` reserves and charges it.
import { Database } from 'bun:sqlite'
import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

const [billing = 'unmetered', upstream = '', folder = ''] = process.argv.slice(2)
const isPrepaid = billing === 'prepaid'
const keyHash = createHash('sha256').update('sk-bench').digest('hex')
const prices = { input: 100, output: 300 }

const chatRequest = Compile(
  Type.Object({
    model: Type.Literal('bench/chat'),
    messages: Type.Array(
      Type.Object({
        role: Type.Union([Type.Literal('system'), Type.Literal('user'), Type.Literal('assistant')]),
        content: Type.String(),
      }),
      { minItems: 1 },
    ),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
)

type ChatReply = {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number }
}
type Charge = { readonly id: string; readonly input: number; readonly output: number; readonly cost: number }
type Job = { run(): void; done(): void }

const database = new Database(join(folder, 'gateway.db'))
database.run('PRAGMA journal_mode = WAL')
database.run('PRAGMA synchronous = FULL')
database.run('CREATE TABLE balance (amount INTEGER NOT NULL)')
database.run('INSERT INTO balance VALUES (1000000000000000)')
database.run('CREATE TABLE reservations (id TEXT PRIMARY KEY, amount INTEGER NOT NULL) WITHOUT ROWID')
database.run(
  'CREATE TABLE usage (created_at INTEGER, id TEXT, model TEXT, input INTEGER, output INTEGER, cost INTEGER, latency INTEGER, PRIMARY KEY (created_at, id)) WITHOUT ROWID',
)
const insertReservation = database.prepare('INSERT INTO reservations VALUES (?, ?)')
const deleteReservation = database.prepare('DELETE FROM reservations WHERE id = ?')
const insertUsage = database.prepare('INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?)')
const charge = database.prepare('UPDATE balance SET amount = amount - ?')

const log = createWriteStream(join(folder, 'requests.log'))
let lines = ''
let jobs: Job[] = []
let due: ReturnType<typeof setTimeout> | undefined

/** Commits all jobs that have come. */
function commit(): void {
  due = undefined
  const batch = jobs
  jobs = []
  database.run('BEGIN IMMEDIATE')
  for (const job of batch) job.run()
  database.run('COMMIT')
  for (const job of batch) job.done()
}

function commitWithin(milliseconds: number, run: () => void, done = () => {}): void {
  jobs.push({ run, done })
  due ??= setTimeout(commit, milliseconds)
}

/** Resolves once the job is on the disk. */
function committed(run: () => void): Promise<void> {
  return new Promise((resolve) => commitWithin(1, run, resolve))
}

function record({ id, input, output, cost }: Charge, startedAt: number): void {
  insertUsage.run(
    Date.now(),
    id,
    'bench/chat',
    input,
    output,
    cost,
    Math.round(performance.now() - startedAt),
  )
}

/** Writes lines to the log together, every 100 ms. */
function writeLine(fields: object): void {
  if (lines === '')
    setTimeout(() => {
      log.write(lines)
      lines = ''
    }, 100)
  lines += `${JSON.stringify({ time: new Date().toISOString(), ...fields })}\n`
}

async function forward(body: object): Promise<ChatReply> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), 60_000)
  try {
    const response = await fetch(`${upstream}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model: 'river-1' }),
      signal: controller.signal,
    })
    return (await response.json()) as ChatReply
  } finally {
    clearTimeout(timer)
  }
}

const app = new Elysia().use(bearer()).post(
  '/v1/chat/completions',
  async ({ bearer: key = '', request }) => {
    const startedAt = performance.now()
    const id = randomUUID()
    if (createHash('sha256').update(key).digest('hex') !== keyHash) return new Response(null, { status: 401 })
    const text = await request.text()
    const body: unknown = JSON.parse(text)
    if (!chatRequest.Check(body)) return new Response(null, { status: 400 })
    const reserved = text.length * prices.input + (body.max_tokens ?? 4096) * prices.output
    if (isPrepaid) await committed(() => insertReservation.run(id, reserved))
    const reply = await forward(body)
    const { prompt_tokens: input, completion_tokens: output } = reply.usage
    const charged = { id, input, output, cost: input * prices.input + output * prices.output }
    if (isPrepaid)
      await committed(() => {
        deleteReservation.run(id)
        record(charged, startedAt)
        charge.run(charged.cost)
      })
    else commitWithin(50, () => record(charged, startedAt))
    writeLine({ level: 'info', message: 'request', status: 200, ...charged })
    return new Response(JSON.stringify({ ...reply, model: 'bench/chat' }), {
      headers: {
        'content-type': 'application/json',
        'x-request-id': id,
        'x-ratelimit-limit-requests': '1000000',
        'x-ratelimit-remaining-requests': '999999',
        'x-ratelimit-reset-requests': '1ms',
        'x-ratelimit-limit-tokens': '1000000',
        'x-ratelimit-remaining-tokens': '999999',
        'x-ratelimit-reset-tokens': '1ms',
        'x-cost': String(charged.cost),
        'openai-processing-ms': String(Math.round(performance.now() - startedAt)),
      },
    })
  },
  { parse: 'none' },
)

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: app.fetch })
console.log(`listens on http://127.0.0.1:${server.port}`)
