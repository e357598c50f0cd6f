import type { Log } from '../../lib/log.ts'
import type { RequestListener } from '../requests.ts'

/** Sends what requests did to a collector of traces. */
export type Tracing = RequestListener & {
  /** Spans that were let go since the start. */
  dropped(): number
  /** Sends what is left, or gives up after a few seconds. */
  stop(): Promise<void>
}

/** The variables of OpenTelemetry. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Undefined where no collector is set: then nothing of all this is even loaded. */
export async function startTracing(environment: Environment, log: Log): Promise<Tracing | undefined> {
  const url = checkedCollector(environment)
  if (url === undefined) return undefined
  const { createTracing } = await import('./create-tracing.ts')
  return createTracing(url, environment, log)
}

/** The address of the collector that is set; throws a sentence where it is none: a missing `http://` is a common slip. */
export function checkedCollector(environment: Environment): string | undefined {
  const url = collectorOf(environment)
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new Error(`The address of the trace collector must begin with http:// or https://, and is ${url}.`)
}

/** The general address is that of a collector of everything, which takes traces below it. */
function collectorOf(environment: Environment): string | undefined {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  if (environment.OTEL_TRACES_EXPORTER === 'none') return undefined
  const own = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  if (own) return own
  const general = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  return general ? `${general.replace(/\/+$/, '')}/v1/traces` : undefined
}
