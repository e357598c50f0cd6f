import { durationOf } from '../../config/duration.ts'
import type { Log } from '../../lib/log.ts'
import { settleWithin } from '../../lib/time.ts'
import type { Runtime } from '../../server/runtime.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import type { Server } from './listen.ts'

/** The two words that end a server: one to stop in order, and a later one to stop at once. */
export type StopSignals = { readonly first: Promise<void>; readonly second: Promise<void> }

/** Milliseconds within which a second signal is the first one again: Ctrl-C reaches a script and what it runs. */
const duplicateSignalMs = 250

/** Listens for SIGINT and SIGTERM from now on. */
export function listenForStopSignals({ signal }: CliContext): StopSignals {
  const first = Promise.withResolvers<void>()
  const again = Promise.withResolvers<void>()
  let firstAt: number | undefined
  const onSignal = () => {
    firstAt ??= performance.now()
    first.resolve()
    if (performance.now() - firstAt > duplicateSignalMs) again.resolve()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  signal?.addEventListener('abort', onSignal, { once: true })
  return { first: first.promise, second: again.promise }
}

/** What `--drain` says, in milliseconds. */
export function parseDrain(text: string = '30s'): number {
  const drainMs = /^0(ms|s|m|h)?$/.test(text) ? 0 : durationOf(text)
  if (drainMs !== undefined && drainMs <= maxDrainMs) return drainMs
  throw new UsageError(
    `--drain needs a duration up to 24h such as 30s or 5m, but got “${text}”. See weir serve --help.`,
  )
}

/** A timer cannot be set much further ahead. */
const maxDrainMs = 86_400_000

/** Milliseconds for the last frames of calls that were cut off to reach their clients. */
const finalFlushTimeoutMs = 1000

/**
 * Takes no new call and lets the open ones end for so many milliseconds, or until told again. Those that are left are
 * ended with an error that says so, and then every connection is closed.
 */
export async function shutDown(
  runtime: Runtime,
  server: Server,
  drainMs: number,
  second: Promise<void>,
  log: Log,
): Promise<void> {
  log.info('The gateway is stopping.', { drain_seconds: drainMs / 1000 })
  runtime.drain()
  const { promise: drainTimeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, drainMs)
  const deadline = Promise.race([drainTimeout, second])
  await Promise.race([runtime.drained(), deadline])
  const aborted = runtime.abortCalls()
  if (aborted > 0) log.warn('Open calls were cut off.', { calls: aborted })
  const closed = server.stop()
  // Clients may still be reading what has ended.
  await Promise.race([closed, deadline])
  clearTimeout(timer)
  await settleWithin(closed, finalFlushTimeoutMs)
  await server.stop(true)
}
