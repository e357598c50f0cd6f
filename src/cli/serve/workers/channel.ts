import { causeOf } from '../../../lib/log.ts'
import { withTimeout } from '../../../lib/time.ts'

/** The procedures that one process offers to another, by name. Inputs and results are JSON. */
type Procedures = Readonly<Record<string, (input: never) => unknown>>

/** A message from one process to the other: a call, or the result of one. */
type Envelope =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly message: string }

/** The other process rejected a call; the message is its reason. */
export class CallRejected extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CallRejected'
  }
}

/** Calls procedures of another process and answers its calls, over the channel between a process and its child. */
export class Channel<Remote extends Procedures, Local extends Procedures> {
  readonly #send: (envelope: Envelope) => void
  readonly #procedures: Local
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  #closed = false

  /** `send` may throw if the other process has ended. */
  constructor(send: (envelope: object) => void, procedures: Local) {
    this.#send = send
    this.#procedures = procedures
  }

  /** Calls a procedure; rejects with `CallRejected`, or if the other process ends or does not answer in time. */
  async call<Name extends keyof Remote & string>(
    name: Name,
    input: Parameters<Remote[Name]>[0],
    timeoutMs: number,
  ): Promise<Awaited<ReturnType<Remote[Name]>>> {
    if (this.#closed) throw new Error('The process has ended.')
    const id = ++this.#lastId
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    try {
      this.#send({ type: 'call', id, name, input })
      const result = withTimeout(pending.promise, timeoutMs, () => new Error('The process did not answer.'))
      // The other process runs the same program, so the result has the type of its procedure.
      return (await result) as Awaited<ReturnType<Remote[Name]>>
    } finally {
      this.#pending.delete(id)
    }
  }

  /** Handles a message that was received. */
  receive(message: unknown): void {
    // Both ends are this program.
    const envelope = message as Envelope
    if (envelope.type === 'call') return void this.#answer(envelope)
    const pending = this.#pending.get(envelope.id)
    if (envelope.type === 'result') pending?.resolve(envelope.value)
    else pending?.reject(new CallRejected(envelope.message))
  }

  /** Rejects the open calls: the other process has ended. */
  close(): void {
    this.#closed = true
    for (const { reject } of this.#pending.values()) reject(new Error('The process has ended.'))
  }

  async #answer({ id, name, input }: Extract<Envelope, { type: 'call' }>): Promise<void> {
    try {
      this.#reply({ type: 'result', id, value: await this.#procedures[name]?.(input as never) })
    } catch (error) {
      this.#reply({ type: 'failure', id, message: error instanceof Error ? error.message : causeOf(error) })
    }
  }

  #reply(envelope: Envelope): void {
    try {
      this.#send(envelope)
    } catch {
      // The other process has ended, and needs no answer.
    }
  }
}
