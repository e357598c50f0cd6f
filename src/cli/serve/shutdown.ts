import { parseDuration } from '../../config/units.ts'
import type { Log } from '../../lib/log.ts'
import { settleWithin } from '../../lib/time.ts'
import type { Runtime } from '../../server/runtime.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import type { Server } from './listen.ts'

/** The first signal stops the server gracefully, the second one at once; a signal after their disposal ends the process. */
export type StopSignals = Disposable & {
  readonly first: Promise<void>
  readonly second: Promise<void>
  /** Aborted by the first signal, for a start that is to end with it. */
  readonly stopping: AbortSignal
}

/** A signal this soon after the first is a duplicate: Ctrl-C reaches a script and its child. */
const duplicateSignalMs = 250

/** Listens for SIGINT, SIGTERM and the signal of the context. */
export function listenForStopSignals({ signal }: CliContext): StopSignals {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const stopping = new AbortController()
  let firstAt: number | undefined
  const onSignal = () => {
    firstAt ??= performance.now()
    first.resolve()
    stopping.abort()
    if (performance.now() - firstAt > duplicateSignalMs) second.resolve()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  signal?.addEventListener('abort', onSignal, { once: true })
  return {
    first: first.promise,
    second: second.promise,
    stopping: stopping.signal,
    [Symbol.dispose]() {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
      signal?.removeEventListener('abort', onSignal)
    },
  }
}

/** Ignores the signals that ask other servers to reopen their logs; they would end the process without a drain. */
export function ignoreUserSignals(): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
}

/** Parses the value of `--drain`; returns milliseconds. */
export function parseDrain(text: string = '30s'): number {
  const drainMs = /^0(ms|s|m|h)?$/.test(text) ? 0 : parseDuration(text)
  if (drainMs !== undefined && drainMs <= maxDrainMs) return drainMs
  throw new UsageError(
    `--drain must be a duration of at most 24h, such as 30s or 5m, not “${text}”.`,
    'serve',
  )
}

/** 24 hours; the longest delay of a timer is 24.8 days. */
const maxDrainMs = 86_400_000

/** Time for the last frames of aborted calls to reach their clients. */
const finalFlushTimeoutMs = 1000

/** Runs a part of the start; resolves with undefined, and logs it, if the first signal has ended that. */
export async function unlessStopped<T>(
  start: (stopping: AbortSignal) => Promise<T>,
  { stopping }: StopSignals,
  log: Log,
): Promise<T | undefined> {
  try {
    return await start(stopping)
  } catch (error) {
    if (!stopping.aborted || error !== stopping.reason) throw error
    log.info('The gateway was stopped before it had started.')
    return undefined
  }
}

/** Logs that the shutdown begins. */
export function logShutdown(drainMs: number, log: Log): void {
  log.info('The gateway is shutting down.', { drain_seconds: drainMs / 1000 })
}

/**
 * Rejects new calls and waits for open ones, until `drainMs` has passed or the second signal arrives. Then aborts the
 * remaining calls with an error, and closes every connection.
 */
export async function shutDown(
  runtime: Runtime,
  server: Server,
  drainMs: number,
  second: Promise<void>,
  log: Log,
): Promise<void> {
  runtime.drain()
  const { promise: drainTimeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, drainMs)
  const deadline = Promise.race([drainTimeout, second])
  await Promise.race([runtime.drained(), deadline])
  const aborted = runtime.abortCalls()
  if (aborted > 0) log.warn('Open requests were aborted.', { calls: aborted })
  const closed = server.stop()
  // Clients may still be reading finished replies.
  await Promise.race([closed, deadline])
  clearTimeout(timer)
  await settleWithin(closed, finalFlushTimeoutMs)
  await server.stop(true)
}
