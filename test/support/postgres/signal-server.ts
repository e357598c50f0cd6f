import type { PostgresServer } from './server.ts'

/** Suspends the server with all of its connections, as a machine without processor time would, or lets it continue. */
export function signalServer({ pid }: Pick<PostgresServer, 'pid'>, signal: 'SIGSTOP' | 'SIGCONT'): void {
  // The server first: while it is suspended, it starts no more of them.
  if (signal === 'SIGSTOP') process.kill(pid, signal)
  const { stdout } = Bun.spawnSync(['pgrep', '-P', String(pid)])
  const connections = stdout.toString().split('\n').filter(Boolean).map(Number)
  for (const one of connections) signalIfRunning(one, signal)
  if (signal === 'SIGCONT') process.kill(pid, signal)
}

/** A connection may be closed in the meantime. */
function signalIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
