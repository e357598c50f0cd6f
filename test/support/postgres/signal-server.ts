import type { PostgresServer } from './server.ts'

/** Suspends the server with all of its connections, as a machine without processor time would, or lets it continue. */
export function signalServer({ pid }: Pick<PostgresServer, 'pid'>, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const { stdout } = Bun.spawnSync(['pgrep', '-P', String(pid)])
  const connections = stdout.toString().split('\n').filter(Boolean).map(Number)
  for (const one of [pid, ...connections]) process.kill(one, signal)
}
