import { createWatchdog } from '../lib/watchdog.ts'

/** Milliseconds. Proxies and clients cut a connection that is silent for a minute, some for less. */
const longestSilence = 15_000
/** Milliseconds. The headers go out with the first bytes: a stream with nothing to say yet sends a comment. */
const firstSilence = 100

const keepAlive = ': keep-alive\n\n'

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** What an event stream is made of: items as they come, and what each of them, and the end, says in frames. */
export type FrameSource<Item> = {
  readonly items: AsyncGenerator<Item>
  /** Whole frames; empty where the item says nothing. */
  frames(item: Item): string
  /** The last frames, once all items were read. */
  end(): string
  /** The last frame of a stream that breaks. */
  failed(error: unknown): string
}

/**
 * A reply that sends the frames of each item as it comes, and a comment where none has come for a while. When the
 * client leaves, the items are returned.
 */
export function eventStream<Item>(source: FrameSource<Item>): Response {
  // Bun takes an async generator as a body, keeps back-pressure on it and returns it when the client leaves.
  return new Response(withKeepAlive(source) as unknown as ReadableStream, { headers })
}

async function* withKeepAlive<Item>(source: FrameSource<Item>): AsyncGenerator<string> {
  const { items } = source
  const silence = createSilence()
  try {
    for (;;) {
      const next = items.next()
      while (await silence.before(next)) yield keepAlive
      const item = await next
      const text = item.done ? source.end() : source.frames(item.value)
      if (text !== '') yield text
      if (item.done) return
    }
  } catch (error) {
    yield source.failed(error)
  } finally {
    silence.end()
    await items.return(undefined)
  }
}

/** Tells when a stream has said nothing for too long. */
function createSilence() {
  let wake = () => {}
  const watchdog = createWatchdog(firstSilence, () => {
    watchdog.touch(longestSilence)
    wake()
  })
  let awaited: Promise<unknown> | undefined
  let settled = false

  /** True when the silence came first, and then may be asked again; false once the promise is settled. */
  function before(next: Promise<unknown>): Promise<boolean> {
    if (awaited !== next) listen(next)
    return new Promise((resolve) => {
      wake = () => resolve(!settled)
      if (settled) wake()
    })
  }

  /** Once for each promise: a race would leave a listener on it for each comment. */
  function listen(next: Promise<unknown>): void {
    awaited = next
    settled = false
    const settle = () => {
      settled = true
      watchdog.touch(longestSilence)
      wake()
    }
    next.then(settle, settle)
  }

  return { before, end: watchdog.stop }
}
