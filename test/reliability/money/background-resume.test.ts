import { expect, test } from 'bun:test'
import { firstKey } from '../../support/app.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { firstChunks, lastChunks } from '../../support/background.ts'
import { chunks, delta } from '../../support/chat-fixtures.ts'
import { readEvents, responseRequest } from '../../support/responses.ts'
import type { Script } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { randomFrom } from '../../unit/providers/protocols/support/random.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'
import { testSeed } from '../../support/seed.ts'

const lives = 4
const words = 150
const wordIntervalMs = 4
/** The gateway is killed within so many milliseconds after a random word of the first reader. */
const maxDelayMs = 70

test('a reader of a background run continues where a kill cut it off: no event that it has seen has changed', async () => {
  const random = randomFrom(testSeed)
  await using upstream = await createUpstream()
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  await gateway.start()
  const ends: string[] = []
  for (let life = 0; life < lives; life++) {
    // The first run is certainly cut off.
    upstream.respondWith(pacedReply(life === 0 ? new Promise(() => {}) : Promise.resolve()))
    const { send } = clientOf(gateway)
    const creating = follow(await send('POST', '', { ...responseRequest, background: true, stream: true }))
    const id = await creating.id()
    const word = Math.floor(random() * words)
    const following = follow(await send('GET', `/${id}?stream=true`))
    await creating.untilWord(Math.min(word, 3))
    const seen = lastNumber(creating.frames())
    const resumed = follow(await send('GET', `/${id}?stream=true&starting_after=${seen}`))
    await creating.untilWord(word)
    await Bun.sleep(random() * maxDelayMs)
    await gateway.kill()
    await Promise.all([creating.ended, following.ended, resumed.ended])
    await gateway.start()

    const all = await replay(gateway, id)
    expect(all.map(numberOf)).toEqual([...all.keys()])
    ends.push(typeOf(all.at(-1)))
    await expectContinued(gateway, id, all, 0, creating.frames())
    await expectContinued(gateway, id, all, 0, following.frames())
    await expectContinued(gateway, id, all, seen + 1, resumed.frames())
  }
  console.log(JSON.stringify(ends))
  expect(ends).toContain('response.failed')
  expect(ends.filter((type) => type !== 'response.failed' && type !== 'response.completed')).toEqual([])
  await gateway.books.expectConsistent()
}, 120_000)

/** The frames that a reader has seen, from this number on, are those of the replay, and the others follow them. */
async function expectContinued(
  gateway: GatewayProcess,
  id: string,
  all: readonly string[],
  first: number,
  seen: readonly string[],
): Promise<void> {
  const next = first + seen.length
  expect(seen).toEqual(all.slice(first, next))
  expect(await replay(gateway, id, next - 1)).toEqual(all.slice(next))
}

/** The words come one by one, and the end when the gate opens. */
function pacedReply(gate: Promise<void>): Script {
  return {
    play(socket, closed) {
      const pieces = Array.from({ length: words }, (_, index) => [
        Bun.sleep(index * wordIntervalMs),
        delta({ content: `word${index} ` }),
      ])
      return chunks([firstChunks[0]!, ...pieces.flat(), gate, ...lastChunks.slice(1)]).play(socket, closed)
    },
  }
}

function clientOf({ url }: GatewayProcess) {
  const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' }
  return {
    async send(method: string, rest: string, body?: object): Promise<Response> {
      const reply = await fetch(`${url()}/v1/responses${rest}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
      })
      if (reply.status !== 200) throw new Error(`It was rejected: ${await reply.text()}`)
      return reply
    },
  }
}

/** Reads the frames of a stream until it ends, or its connection breaks. */
function follow(reply: Response) {
  const reader = readPieces(reply)
  let text = ''
  const waiting = new Set<() => void>()
  const ended = readAll()

  async function readAll(): Promise<void> {
    const next = () => reader.next().catch(() => undefined)
    for (let piece = await next(); piece !== undefined; piece = await next()) {
      text += piece
      for (const check of waiting) check()
    }
  }

  async function until(part: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = () => void (text.includes(part) && resolve())
    waiting.add(check)
    check()
    await Promise.race([promise, ended])
    waiting.delete(check)
    if (!text.includes(part)) throw new Error(`“${part}” never came: ${text.slice(-300)}`)
  }

  return {
    ended,
    /** The complete frames so far, without comments. */
    frames: () => framesOf(text),
    untilWord: (index: number) => until(`"delta":"word${index} "`),
    async id(): Promise<string> {
      await until('"response":{"id":"')
      return /"response":\{"id":"(resp_\w+)"/.exec(text)?.[1] ?? ''
    },
  }
}

function framesOf(text: string): string[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((frame) => !frame.startsWith(':'))
}

function numberOf(frame: string): number {
  return Number(/"sequence_number":(\d+)/.exec(frame)?.[1])
}

function lastNumber(frames: readonly string[]): number {
  return numberOf(frames.at(-1) ?? '')
}

function typeOf(frame: string | undefined): string {
  return /^event: (\S+)/.exec(frame ?? '')?.[1] ?? 'none'
}

/** The frames of the run after this number, until its end. */
async function replay(gateway: GatewayProcess, id: string, after = -1): Promise<string[]> {
  const { text } = await readEvents(
    await clientOf(gateway).send('GET', `/${id}?stream=true&starting_after=${after}`),
  )
  return framesOf(text)
}
