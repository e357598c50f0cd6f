import type { Socket } from 'node:net'
import { delta, doneFrame } from '../../../support/chat-fixtures.ts'
import type { Script } from '../../../support/script.ts'
import { tokensIn } from './texts.ts'

/** What a provider does with one request until the connection is closed. */
export type CountedPlan = {
  /** What it counts of the prompt. */
  readonly promptTokens: number
  /** Whether it accepts the request at once; otherwise it sends no headers at all. */
  readonly accepts: boolean
  /** Hidden tokens that it generates in a second while it is silent. */
  readonly pace: number
  /** Milliseconds of silence before the first piece; endless where there is none. */
  readonly silence: number
  readonly pieces: readonly string[]
  /** What follows the last chunk: silence without tokens, silence with hidden tokens, or the end with its usage. */
  readonly behind: 'nothing' | 'thought' | 'end'
  /** Milliseconds between the end and the usage. */
  readonly usageAfter: number
  /**
   * Resolves when the gateway has read what was sent before. The provider generates nothing hidden until then: how long a busy
   * machine takes to read it is not the concern of the gateway.
   */
  readonly received: () => Promise<void>
}

/** A provider that counts every token that it generates until it notices that the connection was closed. */
export type CountingProvider = {
  readonly script: Script
  /** Resolves when it generates its first token. */
  readonly started: Promise<void>
  /** The tokens that it has generated until now. */
  tokens(): number
  /** Resolves when the connection is closed, with the tokens generated until then. */
  readonly counted: Promise<number>
}

/** No model generates more than what was requested, however long the process of the test gets no processor time. */
const maxTokens = 4000

export function countingProvider(plan: CountedPlan): CountingProvider {
  const counted = Promise.withResolvers<number>()
  const started = Promise.withResolvers<void>()
  let tokens = 0
  let thinkingSince: number | undefined

  function thought(): number {
    if (thinkingSince === undefined) return 0
    const generated = ((performance.now() - thinkingSince) * plan.pace) / 1000
    return Math.min(generated, Math.max(0, maxTokens - tokens))
  }

  const stopThinking = () => {
    tokens += thought()
    thinkingSince = undefined
  }

  async function think(closed: Promise<void>, milliseconds = Number.POSITIVE_INFINITY): Promise<void> {
    thinkingSince = performance.now()
    started.resolve()
    await (Number.isFinite(milliseconds) ? Promise.race([Bun.sleep(milliseconds), closed]) : closed)
    stopThinking()
  }

  async function reply(socket: Socket, closed: Promise<void>): Promise<void> {
    if (!plan.accepts) return think(closed)
    socket.write(head)
    await plan.received()
    if (plan.pieces.length === 0) return think(closed)
    await think(closed, plan.silence)
    for (const content of plan.pieces) {
      tokens += tokensIn(content)
      write(socket, frame(delta({ content })))
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (plan.behind === 'nothing') return closed
    if (plan.behind === 'thought') {
      await plan.received()
      return think(closed)
    }
    write(socket, frame(delta({}, 'stop')))
    await Promise.race([Bun.sleep(plan.usageAfter), closed])
    const usage = { prompt_tokens: plan.promptTokens, completion_tokens: Math.round(tokens) }
    write(socket, `${frame({ choices: [], usage })}${doneFrame}`)
    return closed
  }

  return {
    script: {
      async play(socket, closed) {
        socket.setNoDelay(true)
        await Promise.all([reply(socket, closed), closed])
        stopThinking()
        counted.resolve(tokens)
        return false
      },
    },
    tokens: () => tokens + thought(),
    started: started.promise,
    counted: counted.promise,
  }
}

const head =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n'

function frame(object: object): string {
  return `data: ${JSON.stringify(object)}\n\n`
}

function write(socket: Socket, text: string): void {
  if (!socket.destroyed) socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}
