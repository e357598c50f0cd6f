import { clientGone } from '../lib/errors/errors.ts'
import type { PushStream } from '../lib/push-stream.ts'
import { withTimeout } from '../lib/time.ts'
import { createWatchdog, type Watchdog } from '../lib/watchdog.ts'
import { directReply, type Sink } from './direct-stream.ts'

/** Milliseconds. Proxies and clients cut a connection that is silent for a minute, some for less. */
const longestSilence = 15_000
/** Milliseconds. The headers go out with the first bytes: a stream with nothing to say yet sends a comment. */
const firstSilence = 100
/** Milliseconds. A client who takes nothing for so long has left in all but name, and keeps a provider at work. */
const longestStandstill = 60_000

const keepAlive = ': keep-alive\n\n'

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** What an event stream is made of: items as they come, and what each of them, and the end, says in frames. */
export type FrameSource<Item> = {
  readonly items: PushStream<Item>
  /** The first frames, before any item has come. */
  begin?(): string
  /** Whole frames; empty where the item says nothing. */
  frames(item: Item): string
  /** The last frames, once all items were read. */
  end(): string
  /** The last frame of a stream that breaks. */
  failed(error: unknown): string
}

/**
 * A reply that sends the frames of each item as it comes, and a comment where none has come for a while. When the
 * client leaves, or takes nothing for `standstill` milliseconds while there is more, the items are closed. A request for
 * the headers alone has them at once, and the items are closed.
 */
export function eventStream<Item>(
  source: FrameSource<Item>,
  { method = 'GET', standstill = longestStandstill }: StreamOptions = {},
): Response {
  const cancel = () => source.items.close()
  if (method !== 'HEAD')
    return directReply({ pull: (sink) => new Sending(source, sink, standstill).all(), cancel }, headers)
  cancel()
  return new Response(null, { headers })
}

/** `method` is that of the request; `standstill` is in milliseconds. */
export type StreamOptions = { readonly method?: string; readonly standstill?: number }

/** One stream on its way to its client. */
class Sending<Item> {
  readonly #source: FrameSource<Item>
  readonly #sink: Sink
  readonly #standstill: number
  readonly #silence: Watchdog

  constructor(source: FrameSource<Item>, sink: Sink, standstill: number) {
    this.#source = source
    this.#sink = sink
    this.#standstill = standstill
    this.#silence = createWatchdog(firstSilence, () => {
      this.#silence.touch(longestSilence)
      void this.#write(keepAlive)
    })
  }

  async all(): Promise<void> {
    const source = this.#source
    const { items } = source
    try {
      if (source.begin) await this.#tell(source.begin())
      await items.each((item) => this.#tell(source.frames(item)))
      void this.#write(source.end())
    } catch (error) {
      this.#tellFailure(error)
    } finally {
      this.#silence.stop()
      items.close()
      this.#sink.close()
    }
  }

  /** A failure that cannot be told is an end without a last frame. */
  #tellFailure(error: unknown): void {
    try {
      void this.#write(this.#source.failed(error))
    } catch {}
  }

  /** A promise where whoever reads does not keep up: it resolves when there is room again. */
  #tell(text: string): Promise<unknown> | undefined {
    if (text !== '') this.#silence.touch(longestSilence)
    const written = this.#write(text)
    return written && withTimeout(written, this.#standstill, clientGone)
  }

  #write(text: string): Promise<number> | undefined {
    if (text === '') return undefined
    const written = this.#sink.write(text)
    this.#sink.flush()
    if (typeof written === 'number') return undefined
    // Whoever waits for it hears of a failure too; where nobody does, it must not count as nobody's.
    written.catch(() => {})
    return written
  }
}
