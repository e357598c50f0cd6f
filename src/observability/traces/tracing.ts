import type { Log } from '../../lib/log.ts'
import type { Environment, Tracing } from './opentelemetry.ts'

/** Starts tracing; returns undefined if no collector is configured, and then does not load the SDK. */
export async function startTracing(environment: Environment, log: Log): Promise<Tracing | undefined> {
  const url = collectorUrl(environment)
  if (url === undefined) return undefined
  const { createTracing } = await import('./opentelemetry.ts')
  return createTracing(url, environment, log)
}

/** Returns the configured collector URL, if any; throws if it is not an HTTP URL, because `http://` is often forgotten. */
export function collectorUrl(environment: Environment): string | undefined {
  const url = configuredCollector(environment)
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new Error(`The URL of the trace collector must begin with http:// or https://, not ${url}.`)
}

/** The general endpoint is the base URL of all signals; traces are sent to a path below it. */
function configuredCollector(environment: Environment): string | undefined {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  if (environment.OTEL_TRACES_EXPORTER === 'none') return undefined
  const own = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  if (own) return own
  const general = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  return general ? `${general.replace(/\/+$/, '')}/v1/traces` : undefined
}
