import { dirname, resolve } from 'node:path'
import { parseDuration, parseSize } from './units.ts'
import type { ProviderSettings, Settings, SettingsFile } from './settings.ts'

/** Adds the defaults to a valid settings file. Relative paths are resolved against the folder of the file. */
export function toSettings(fileSettings: SettingsFile, file: string | null): Settings {
  const { limits, retention, tls } = fileSettings
  const resolvePath = (path: string) => (file === null ? path : resolve(dirname(file), path))
  return {
    host: fileSettings.host ?? '127.0.0.1',
    port: fileSettings.port ?? 9347,
    providers: resolveProviders(fileSettings.providers ?? {}, resolvePath),
    models: fileSettings.models ?? [],
    retries: { attempts: fileSettings.retries?.attempts ?? 2 },
    breaker: {
      failures: fileSettings.breaker?.failures ?? 5,
      cooldown: parseDuration(fileSettings.breaker?.cooldown ?? '') ?? 30_000,
    },
    limits: {
      requestsPerMinute: limits?.requests_per_minute ?? 6000,
      tokensPerMinute: limits?.tokens_per_minute ?? 20_000_000,
      concurrentRequests: limits?.concurrent_requests ?? 10_000,
    },
    unsupportedParameters: fileSettings.unsupported_parameters ?? 'reject',
    retention: {
      completions: parseDuration(retention?.completions ?? ''),
      responses: parseDuration(retention?.responses ?? ''),
      usage: parseDuration(retention?.usage ?? ''),
    },
    background: {
      concurrency: fileSettings.background?.concurrency ?? 64,
      maxQueued: fileSettings.background?.max_queued ?? 1000,
    },
    compatibility: resolveCompatibility(fileSettings.compatibility),
    log: fileSettings.log ?? 'requests',
    memory: { inFlight: parseSize(fileSettings.memory?.in_flight ?? '') ?? 512 * 1024 ** 2 },
    maxBody: parseSize(fileSettings.max_body ?? '') ?? 32 * 1024 ** 2,
    cors: fileSettings.cors ?? [],
    ...(tls && { tls: { cert: resolvePath(tls.cert), key: resolvePath(tls.key) } }),
  }
}

function resolveCompatibility(compatibility: SettingsFile['compatibility']): Settings['compatibility'] {
  return {
    openResponses: compatibility?.open_responses ?? false,
    functionTools: compatibility?.function_tools ?? false,
    toolCallFragments: compatibility?.tool_call_fragments ?? false,
    logprobs: compatibility?.logprobs ?? false,
  }
}

function resolveProviders(
  providers: Readonly<Record<string, ProviderSettings>>,
  resolvePath: (path: string) => string,
): Readonly<Record<string, ProviderSettings>> {
  return Object.fromEntries(
    Object.entries(providers).map(([name, entry]) => [
      name,
      entry.credentials === undefined ? entry : { ...entry, credentials: resolvePath(entry.credentials) },
    ]),
  )
}
