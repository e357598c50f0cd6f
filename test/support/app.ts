import { listen } from '../../src/cli/serve/listen.ts'
import { checkSchema } from '../../src/config/check-schema.ts'
import { toSettings } from '../../src/config/defaults.ts'
import { duplicateModelNames } from '../../src/config/load.ts'
import { SettingsError, type SettingsProblem } from '../../src/config/problem.ts'
import { type Settings, SettingsFile } from '../../src/config/settings.ts'
import type { NetworkOverrides } from '../../src/lib/pinned-fetch.ts'
import { createLog } from '../../src/lib/log.ts'
import type { DatabaseLocation } from '../../src/storage/database-location.ts'
import { newDatabase } from './database-connection.ts'
import { patientTimeoutMs } from './postgres/open-database.ts'
import { createRuntime, type Runtime } from '../../src/server/runtime.ts'
import { createRequestLines, type RequestLines } from './request-lines.ts'

export type AppOptions = {
  /** The settings, as in weir.yaml. By default, only the built-in model is enabled. */
  readonly settings?: SettingsFile
  readonly environment?: Readonly<Record<string, string>>
  /** The path or the URL of the database; an empty one otherwise. */
  readonly database?: DatabaseLocation
  /** Milliseconds of silence after which an accepted stream is handed over. */
  readonly patience?: number
  /** Milliseconds for which the usage of a caller who has left is awaited. */
  readonly usageTimeoutMs?: number
  /** Milliseconds for which a request waits for memory. */
  readonly memoryWaitMs?: number
  /** Milliseconds for which a write waits while the SQLite file is locked. */
  readonly lockTimeoutMs?: number
  /** See `StorageOptions`; by default, a machine that stands still for some seconds fails no test of something else. */
  readonly databaseTimeoutMs?: number | undefined
  /** The clock of the limits and of the breaker, in milliseconds. */
  readonly clock?: () => number
  /** The clock of the periods of budgets, in milliseconds since 1970. */
  readonly now?: () => number
  /** What stands in the place of the internet where images are fetched. */
  readonly images?: NetworkOverrides
  /** Milliseconds from one sweep to the next. */
  readonly sweepInterval?: number
  /** Milliseconds from one look for webhook events to the next; 20 by default. */
  readonly webhookInterval?: number
  /** Milliseconds between two heartbeats, and without one until the others evict this gateway. */
  readonly heartbeatInterval?: number
  readonly evictAfter?: number
  /** Milliseconds after which a deleted response is erased from PostgreSQL; 10,000 by default. */
  readonly erasureDelay?: number
  /** Milliseconds from one check of the keys of open streams to the next; 50 by default. */
  readonly keyCheckInterval?: number
}

/** A running gateway on its own socket. */
export type App = {
  readonly url: string
  readonly key: string
  readonly runtime: Runtime
  /** What it has logged, a JSON object a line. */
  readonly lines: readonly string[]
  /** A line for each of its requests. */
  readonly requestLines: RequestLines
  /** Sends a request with the first API key. */
  request(path: string, options?: RequestOptions): Promise<Response>
  chat(body: object, options?: RequestOptions): Promise<Response>
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A gateway to which requests are sent. */
export type Requester = Pick<App, 'request'>

export type RequestOptions = {
  readonly method?: string
  /** A header; null omits one that is sent by default. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** An object is sent as JSON, anything else as it is. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** The first key of every app. */
export const firstKey = 'sk-weir-Test00000000-SecretSecretSecretSecretSecret00'

/** Starts the whole gateway with these settings, by the way that `weir serve` takes. */
export async function startApp(options: AppOptions = {}): Promise<App> {
  const lines: string[] = []
  const requestLines = createRequestLines()
  const settings = checkedSettings(options.settings ?? {})
  const log = createLog((line) => void lines.push(line))
  const { database } = options
  const used = database === undefined ? await newDatabase() : { location: database, async delete() {} }
  const runtime = await createRuntime({
    settings,
    file: null,
    // An Ollama of the developer is not to be found.
    environment: { WEIR_BOOTSTRAP_KEY: firstKey, OLLAMA_HOST: 'elsewhere.test', ...options.environment },
    database: used.location,
    log,
    requestLines: { sink: requestLines.sink, readable: false },
    firstEventTimeoutMs: options.patience,
    usageTimeoutMs: options.usageTimeoutMs,
    memoryWaitMs: options.memoryWaitMs,
    lockTimeoutMs: options.lockTimeoutMs,
    databaseTimeoutMs: databaseTimeoutOf(options),
    clock: options.clock,
    now: options.now,
    images: options.images,
    sweepIntervalMs: options.sweepInterval,
    webhookIntervalMs: options.webhookInterval ?? 20,
    heartbeatIntervalMs: options.heartbeatInterval,
    evictAfterMs: options.evictAfter,
    erasureDelayMs: options.erasureDelay,
    keyCheckIntervalMs: options.keyCheckInterval ?? 50,
  })
  const server = listen(runtime, settings, log)
  runtime.attachServer(server)
  const url = `http://127.0.0.1:${server.port}`
  const request = (path: string, options: RequestOptions = {}) => fetch(url + path, toInit(options))

  async function stop(): Promise<void> {
    await server.stop(true)
    await runtime.stop()
    await used.delete()
  }

  return {
    url,
    key: firstKey,
    runtime,
    lines,
    requestLines,
    request,
    chat: (body, options) => request('/v1/chat/completions', { method: 'POST', body, ...options }),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** A test that locks the database, or passes undefined, has the timeouts of production. */
function databaseTimeoutOf(options: AppOptions): number | undefined {
  if ('databaseTimeoutMs' in options) return options.databaseTimeoutMs
  return options.lockTimeoutMs === undefined ? patientTimeoutMs : undefined
}

/** The settings as read from a file, which has no undefined values. */
function checkedSettings(input: SettingsFile): Settings {
  const written: unknown = JSON.parse(JSON.stringify(input))
  const problems: SettingsProblem[] = []
  const shapely = checkSchema(SettingsFile, written, problems)
  if (shapely) problems.push(...duplicateModelNames(written.models ?? []))
  if (!shapely || problems.length > 0) throw new SettingsError(problems, null)
  return toSettings({ port: 0, ...written }, null)
}

function toInit({ method, headers = {}, body, signal }: RequestOptions): RequestInit {
  const all = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json', ...headers }
  const kept = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  const plain = typeof body === 'object' && body?.constructor === Object
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: Object.fromEntries(kept),
    body: plain ? JSON.stringify(body) : (body as RequestInit['body']),
    signal,
    keepalive: false,
  }
}
