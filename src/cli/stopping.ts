import { durationOf } from '../config/duration.ts'
import type { Log } from '../lib/log.ts'
import { settleWithin } from '../lib/time.ts'
import type { Runtime } from '../server/runtime.ts'
import { type CliContext, UsageError } from './args.ts'
import type { Server } from './listen.ts'

/** The two words that end a server: one to stop in order, and a later one to stop at once. */
export type StopWords = { readonly first: Promise<void>; readonly again: Promise<void> }

/** Milliseconds within which a second signal is the first one again: Ctrl-C reaches a script and what it runs. */
const sameSignal = 250

/** Listens for SIGINT and SIGTERM from now on. */
export function listenForStop({ signal }: CliContext): StopWords {
  const first = Promise.withResolvers<void>()
  const again = Promise.withResolvers<void>()
  let toldAt: number | undefined
  const told = () => {
    toldAt ??= performance.now()
    first.resolve()
    if (performance.now() - toldAt > sameSignal) again.resolve()
  }
  process.on('SIGINT', told)
  process.on('SIGTERM', told)
  signal?.addEventListener('abort', told, { once: true })
  return { first: first.promise, again: again.promise }
}

/** What `--drain` says, in milliseconds. */
export function drainOf(text: string = '30s'): number {
  const drain = /^0(ms|s|m|h)?$/.test(text) ? 0 : durationOf(text)
  if (drain !== undefined && drain <= longestDrain) return drain
  throw new UsageError(
    `--drain needs a duration up to 24h such as 30s or 5m, but got “${text}”. See weir serve --help.`,
  )
}

/** A timer cannot be set much further ahead. */
const longestDrain = 86_400_000

/** Milliseconds for the last frames of calls that were cut off to reach their clients. */
const farewell = 1000

/**
 * Takes no new call and lets the open ones end for so many milliseconds, or until told again. Those that are left are
 * ended with an error that says so, and then every connection is closed.
 */
export async function stopInOrder(
  runtime: Runtime,
  server: Server,
  drain: number,
  again: Promise<void>,
  log: Log,
): Promise<void> {
  log.info('The gateway is stopping.', { drain_seconds: drain / 1000 })
  runtime.drain()
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, drain)
  const over = Promise.race([late, again])
  await Promise.race([runtime.drained(), over])
  const cut = runtime.cut()
  if (cut > 0) log.warn('Open calls were cut off.', { calls: cut })
  const closed = server.stop()
  // Clients may still be reading what has ended.
  await Promise.race([closed, over])
  clearTimeout(timer)
  await settleWithin(closed, farewell)
  await server.stop(true)
}
