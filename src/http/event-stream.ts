import { type ApiError, clientStalled } from '../lib/errors/errors.ts'
import type { PushStream } from '../lib/push-stream.ts'
import { Watchdog, withTimeout } from '../lib/time.ts'
import type { EndStream } from './authentication.ts'
import { directReply, type Sink, stallTimeoutMs } from './reply.ts'

/** Milliseconds. Proxies and clients close a connection that is idle for a minute, some after less. */
const keepAliveIntervalMs = 15_000
/** Milliseconds. The first bytes carry the headers, so a stream without a frame yet sends a comment this early. */
const firstKeepAliveMs = 100

/** A comment, which clients ignore. */
const defaultKeepAlive = ': keep-alive\n\n'

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** The source of an event stream: items as they arrive, and the functions that render them as frames. */
export type FrameSource<Item> = {
  readonly items: PushStream<Item>
  /** Renders the first frames, before any item has arrived. */
  begin?(): string
  /** Renders the frames of an item; empty where it has none. */
  frames(item: Item): string
  /** Renders the last frames, after all items. */
  end(): string
  /** Renders the last frame of a stream that fails. */
  failed(error: unknown): string
  /** The frame that is sent while no item arrives; a comment where it is absent. */
  readonly keepAlive?: string | undefined
}

/** How a stream that still waits is kept alive, and how its failure is rendered. */
type WaitingFrames = Pick<FrameSource<never>, 'failed' | 'keepAlive'>

type StartedFrames<Item> = Omit<FrameSource<Item>, keyof WaitingFrames> & Partial<WaitingFrames>

/**
 * Resolves with the source that `start` resolves with, and rejects as it does. Once `start` calls its argument, resolves at
 * once with a source that keeps the connection alive until then, so that the client has its status before.
 */
export function openSource<Item>(
  start: (onWaiting: () => void) => Promise<StartedFrames<Item>>,
  waiting: WaitingFrames,
): Promise<FrameSource<unknown>> {
  return new Promise((resolve, reject) => {
    const starting = start(() => resolve(waitingSource(starting, waiting)))
    starting.then((source) => resolve({ ...waiting, ...source }), reject)
  })
}

function waitingSource<Item>(
  starting: Promise<StartedFrames<Item>>,
  waiting: WaitingFrames,
): FrameSource<string> {
  let started: StartedFrames<Item> | undefined
  return {
    items: {
      async forEach(onText) {
        const source = (started = await starting)
        if (source.begin) await onText(source.begin())
        await source.items.forEach((item) => onText(source.frames(item)))
      },
      close: (reason) =>
        void starting.then(
          ({ items }) => items.close(reason),
          () => {},
        ),
    },
    frames: (text) => text,
    end: () => started?.end() ?? '',
    failed: (error) => (started?.failed ?? waiting.failed)(error),
    keepAlive: waiting.keepAlive,
  }
}

/**
 * A reply that sends the frames of each item as it arrives, and a keep-alive when the stream is idle. The items are closed
 * when the client leaves, or reads nothing for `stallTimeoutMs` while frames wait. A `HEAD` request receives the headers at
 * once, and the items are closed.
 */
export class EventStreamReply<Item = unknown> {
  readonly #source: FrameSource<Item>
  readonly #options: StreamOptions

  constructor(source: FrameSource<Item>, options: StreamOptions) {
    this.#source = source
    this.#options = options
  }

  /** Creates the response, once, with these headers besides its own. */
  toResponse(otherHeaders: ReplyHeaders = {}): Response {
    const source = this.#source
    const options = this.#options
    const allHeaders = { ...otherHeaders, ...headers }
    const cancel = () => source.items.close()
    if (options.method !== 'HEAD')
      return directReply(
        { pull: (sink) => new EventStreamWriter(source, sink, options).writeAll(), cancel },
        allHeaders,
      )
    cancel()
    return new Response(null, { headers: allHeaders })
  }
}

/** Creates the reply of a route that answers with an event stream. */
export function eventStream<Item>(
  source: FrameSource<Item>,
  options: StreamOptions = {},
): EventStreamReply<Item> {
  return new EventStreamReply(source, options)
}

/**
 * The last step of a reply: sends an event stream with the headers that were set. Elysia would copy the response to add
 * them, which takes longer than to create it.
 */
export function sendEventStream({ responseValue, set }: RepliedContext): Response | undefined {
  if (!(responseValue instanceof EventStreamReply)) return undefined
  // Elysia's type allows numbers, which are set nowhere.
  const response = responseValue.toResponse(set.headers as ReplyHeaders)
  set.headers = {}
  return response
}

type RepliedContext = {
  readonly responseValue: unknown
  readonly set: { headers: Record<string, string | number> }
}

type ReplyHeaders = Readonly<Record<string, string>>

export type StreamOptions = {
  /** That of the request. */
  readonly method?: string
  readonly stallTimeoutMs?: number
  /** Watches the key of the request; see `KeyWatch`. */
  readonly watch?: ((end: EndStream) => () => void) | undefined
}

/** Writes one event stream to its client. */
class EventStreamWriter<Item> {
  readonly #source: FrameSource<Item>
  readonly #sink: Sink
  readonly #stallTimeoutMs: number
  readonly #watch: StreamOptions['watch']
  readonly #idleTimer: Watchdog
  /** Why the gateway has ended the stream before its end. */
  #ended: Error | undefined

  constructor(source: FrameSource<Item>, sink: Sink, options: StreamOptions) {
    this.#source = source
    this.#sink = sink
    this.#stallTimeoutMs = options.stallTimeoutMs ?? stallTimeoutMs
    this.#watch = options.watch
    this.#idleTimer = new Watchdog(firstKeepAliveMs, () => {
      this.#idleTimer.touch(keepAliveIntervalMs)
      void this.#write(source.keepAlive ?? defaultKeepAlive)
    })
  }

  async writeAll(): Promise<void> {
    const source = this.#source
    const { items } = source
    const unwatch = this.#watch?.(this.#end)
    try {
      if (source.begin) await this.#send(source.begin())
      await items.forEach((item) => this.#send(source.frames(item)))
      if (this.#ended) throw this.#ended
      void this.#write(source.end())
    } catch (error) {
      this.#sendFailure(this.#ended ?? error)
    } finally {
      unwatch?.()
      this.#idleTimer.stop()
      items.close()
      this.#sink.close()
    }
  }

  readonly #end = (error: Error): void => {
    this.#ended ??= error
    this.#source.items.close(this.#ended)
  }

  /** A failure that cannot be rendered ends the stream without a last frame. */
  #sendFailure(error: unknown): void {
    try {
      void this.#write(this.#source.failed(error))
    } catch {}
  }

  /** Returns a promise where the client does not keep up: it resolves when there is room, and rejects after the timeout. */
  #send(text: string): Promise<unknown> | undefined {
    if (text !== '') this.#idleTimer.touch(keepAliveIntervalMs)
    const written = this.#write(text)
    return written && withTimeout(written, this.#stallTimeoutMs, clientStalled)
  }

  #write(text: string): Promise<number> | undefined {
    if (text === '') return undefined
    const written = this.#sink.write(text)
    this.#sink.flush()
    if (typeof written === 'number') return undefined
    // A caller that awaits the promise sees its rejection; for the others it must not be an unhandled one.
    written.catch(() => {})
    return written
  }
}

/** The frame that marks a stream of chunks as complete. */
export const doneFrame = 'data: [DONE]\n\n'

/** The frame of an error in the middle of a stream. It is the last one, so that a broken stream never looks complete. */
export function errorFrame(error: ApiError): string {
  return `data: ${JSON.stringify(error.toBody())}\n\n`
}
