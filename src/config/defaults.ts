import { dirname, resolve } from 'node:path'
import { camelCase } from '../lib/text.ts'
import type { ProviderSettings } from './provider-settings.ts'
import type { Settings, SettingsFile } from './settings.ts'
import { bytesOf, millisecondsOf, parseDuration } from './units.ts'

/** The defaults of the settings, as in the file; a setting without one is absent. */
export const defaultSettings = {
  host: '127.0.0.1',
  port: 9347,
  workers: 1,
  retries: { attempts: 2 },
  breaker: { failures: 5, cooldown: '30s' },
  limits: { requests_per_minute: 6000, tokens_per_minute: 20_000_000, concurrent_requests: 10_000 },
  unsupported_parameters: 'reject',
  retention: { content_log: '7d' },
  background: { concurrency: 64, max_queued: 1000 },
  compatibility: {
    open_responses: false,
    function_tools: false,
    tool_call_fragments: false,
    logprobs: false,
    cache_write_tokens: false,
  },
  log: 'requests',
  memory: { in_flight: '512MiB' },
  max_body: '32MiB',
  page: true,
  alerts: { low_balance: 1 },
} as const satisfies SettingsFile

/** The defaults of a provider, beside those of its kind. */
export const defaultProviderSettings = {
  api: 'chat',
  discover: false,
  timeouts: { connect: '10s', first_byte: '10m', idle: '5m' },
  queue: { wait: '30s', length: 64 },
} as const satisfies ProviderSettings

/** Adds the defaults to a valid settings file. Relative paths are resolved against the folder of the file. */
export function toSettings(fileSettings: SettingsFile, file: string | null): Settings {
  const { tls } = fileSettings
  const resolvePath = (path: string) => (file === null ? path : resolve(dirname(file), path))
  return {
    host: fileSettings.host ?? defaultSettings.host,
    port: fileSettings.port ?? defaultSettings.port,
    workers: fileSettings.workers ?? defaultSettings.workers,
    ...(fileSettings.database !== undefined && { database: fileSettings.database }),
    providers: resolveProviders(fileSettings.providers ?? {}, resolvePath),
    models: fileSettings.models ?? [],
    retries: { ...defaultSettings.retries, ...fileSettings.retries },
    breaker: toBreaker(fileSettings),
    limits: camelCase({ ...defaultSettings.limits, ...fileSettings.limits }),
    unsupportedParameters: fileSettings.unsupported_parameters ?? defaultSettings.unsupported_parameters,
    retention: toRetention(fileSettings),
    background: camelCase({ ...defaultSettings.background, ...fileSettings.background }),
    compatibility: camelCase({ ...defaultSettings.compatibility, ...fileSettings.compatibility }),
    ...(fileSettings.user_hash_key !== undefined && { userHashKey: fileSettings.user_hash_key }),
    log: fileSettings.log ?? defaultSettings.log,
    memory: { inFlight: bytesOf({ ...defaultSettings.memory, ...fileSettings.memory }.in_flight) },
    maxBody: bytesOf(fileSettings.max_body ?? defaultSettings.max_body),
    cors: fileSettings.cors ?? [],
    page: fileSettings.page ?? defaultSettings.page,
    webhooks: fileSettings.webhooks ?? [],
    alerts: camelCase({ ...defaultSettings.alerts, ...fileSettings.alerts }),
    ...(tls && { tls: { cert: resolvePath(tls.cert), key: resolvePath(tls.key) } }),
  }
}

function toBreaker({ breaker }: SettingsFile): Settings['breaker'] {
  const { failures, cooldown } = { ...defaultSettings.breaker, ...breaker }
  return { failures, cooldown: millisecondsOf(cooldown) }
}

function toRetention({ retention }: SettingsFile): Settings['retention'] {
  return {
    completions: parseDuration(retention?.completions ?? ''),
    responses: parseDuration(retention?.responses ?? ''),
    usage: parseDuration(retention?.usage ?? ''),
    contentLog: millisecondsOf(retention?.content_log ?? defaultSettings.retention.content_log),
    audit: parseDuration(retention?.audit ?? ''),
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
