import { dirname, resolve } from 'node:path'
import { durationOf } from './duration.ts'
import type { ProviderSettings, Settings, SettingsFile } from './settings.ts'
import { sizeOf } from './size.ts'

/** The checked file with defaults for what it leaves out. Files that it names lie beside it. */
export function toSettings(written: SettingsFile, file: string | null): Settings {
  const { limits, retention, tls } = written
  const beside = (path: string) => (file === null ? path : resolve(dirname(file), path))
  return {
    host: written.host ?? '127.0.0.1',
    port: written.port ?? 9347,
    providers: providersOf(written.providers ?? {}, beside),
    models: written.models ?? [],
    retries: { attempts: written.retries?.attempts ?? 2 },
    breaker: {
      failures: written.breaker?.failures ?? 5,
      cooldown: durationOf(written.breaker?.cooldown ?? '') ?? 30_000,
    },
    limits: {
      requestsPerMinute: limits?.requests_per_minute ?? 6000,
      tokensPerMinute: limits?.tokens_per_minute ?? 20_000_000,
      concurrentRequests: limits?.concurrent_requests ?? 10_000,
    },
    unsupportedParameters: written.unsupported_parameters ?? 'reject',
    retention: {
      completions: durationOf(retention?.completions ?? ''),
      responses: durationOf(retention?.responses ?? ''),
      usage: durationOf(retention?.usage ?? ''),
    },
    background: {
      concurrency: written.background?.concurrency ?? 64,
      maxQueued: written.background?.max_queued ?? 1000,
    },
    compatibility: {
      openResponses: written.compatibility?.open_responses ?? false,
      toolCallFragments: written.compatibility?.tool_call_fragments ?? false,
    },
    log: written.log ?? 'requests',
    memory: { inFlight: sizeOf(written.memory?.in_flight ?? '') ?? 512 * 1024 ** 2 },
    maxBody: sizeOf(written.max_body ?? '') ?? 32 * 1024 ** 2,
    cors: written.cors ?? [],
    ...(tls && { tls: { cert: beside(tls.cert), key: beside(tls.key) } }),
  }
}

function providersOf(
  written: Readonly<Record<string, ProviderSettings>>,
  beside: (path: string) => string,
): Readonly<Record<string, ProviderSettings>> {
  return Object.fromEntries(
    Object.entries(written).map(([name, entry]) => [
      name,
      entry.credentials === undefined ? entry : { ...entry, credentials: beside(entry.credentials) },
    ]),
  )
}
