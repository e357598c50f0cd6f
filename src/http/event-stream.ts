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

/**
 * A reply that sends the frames as they come, each whole, and a comment where none has come for a while. Where
 * they fail, `failed` gives the last frame. When the client leaves, the frames are returned.
 */
export function eventStream(frames: AsyncGenerator<string>, failed: (error: unknown) => string): Response {
  // Bun takes an async generator as a body, keeps back-pressure on it and returns it when the client leaves.
  return new Response(withKeepAlive(frames, failed) as unknown as ReadableStream, { headers })
}

async function* withKeepAlive(
  frames: AsyncGenerator<string>,
  failed: (error: unknown) => string,
): AsyncGenerator<string> {
  let wake = () => {}
  const watchdog = createWatchdog(firstSilence, () => {
    watchdog.touch(longestSilence)
    wake()
  })
  try {
    for (;;) {
      const next = frames.next()
      const wait = { over: false }
      const arrived = () => {
        wait.over = true
        wake()
      }
      next.then(arrived, arrived)
      // Not a race: on a frame that is long in coming it would leave a listener for each comment.
      while (!wait.over) {
        await new Promise<void>((resolve) => (wake = resolve))
        if (!wait.over) yield keepAlive
      }
      const frame = await next
      if (frame.done) return
      watchdog.touch(longestSilence)
      yield frame.value
    }
  } catch (error) {
    yield failed(error)
  } finally {
    watchdog.stop()
    await frames.return(undefined)
  }
}
