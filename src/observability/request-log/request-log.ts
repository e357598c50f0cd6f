import { toDollars } from '../../gateway/billing/price.ts'
import { loggable } from '../../lib/text.ts'
import type { Attempt } from '../../gateway/observer.ts'
import { isRoutineProbe, type RequestRecord } from '../request-record.ts'
import type { RequestListener } from '../request-tracker.ts'
import type { FailureNotes } from './failure-notes.ts'
import { createLineWriter, type LineWriter, type Sink } from './line-writer.ts'
import { clockTime, levelLabel, readableLine } from './readable-log.ts'

/** Which requests are logged: all, those that failed, or none. */
export type LoggedRequests = 'requests' | 'errors' | 'off'

/** Writes a line for each finished request. */
type RequestLog = RequestListener & Pick<LineWriter, 'flush' | 'dropped'>

/** The destination and format of request lines. */
export type LogOutput = {
  readonly sink: Sink
  /** True for lines for a terminal, false for JSON lines. */
  readonly readable: boolean
  /** Colours readable lines. */
  readonly color?: boolean
  /** The causes of failures, shown in readable lines. */
  readonly notes?: FailureNotes
}

/** Creates a request log. `logged` is called for each request because settings can change. */
export function createRequestLog(output: LogOutput, logged: () => LoggedRequests): RequestLog {
  const { sink, readable, color, notes } = output
  const writer = createLineWriter(sink, readable ? readableDroppedLine : droppedLine)

  function write(record: RequestRecord): void {
    const now = new Date(record.finishedAt)
    const writeWith = (cause?: string) => writer.write(readableLine(record, { color, cause, now }))
    if (!readable) writer.write(logLine(record, now))
    else if (notes && record.status() >= 500) notes.take(record.id, writeWith)
    else writeWith()
  }

  return {
    finished(record) {
      if (isLogged(record, logged())) write(record)
    },
    async flush(timeoutMs) {
      notes?.flush()
      await writer.flush(timeoutMs)
    },
    dropped: writer.dropped,
  }
}

function isLogged(record: RequestRecord, logged: LoggedRequests): boolean {
  if (logged === 'off') return false
  if (logged === 'requests') return !isRoutineProbe(record)
  return record.errorCode() !== undefined || record.status() >= 400
}

function droppedLine(lines: number): string {
  return JSON.stringify({ time: new Date().toISOString(), message: 'Request log lines were dropped.', lines })
}

function readableDroppedLine(lines: number): string {
  const message = `${lines} request log lines were dropped because the output was not read fast enough.`
  return [clockTime(new Date()), levelLabel('warn'), message].join('  ')
}

/** Formats the log line of a request: one JSON object, without fields that are unknown or do not apply. */
function logLine(record: RequestRecord, now: Date = new Date()): string {
  const { metadata, outcome, reply } = record
  const usage = outcome?.usage
  return JSON.stringify({
    time: now.toISOString(),
    request: record.id,
    method: record.background ? undefined : loggable(record.method, maxMethodLength),
    path: record.path(),
    background: record.background || undefined,
    status: record.status(),
    error: record.errorCode(),
    ...rejectionFields(record),
    organization: metadata?.organization ?? reply?.organization,
    key: metadata?.key ?? reply?.key ?? record.rejection?.error.log.key,
    requested_model: requestedModel(record),
    model: metadata?.model,
    stream: metadata?.stream,
    attempts: record.attempts.length > 0 ? record.attempts.map(attemptFields) : undefined,
    provider: outcome?.provider,
    upstream_model: outcome?.upstreamModel,
    input_tokens: usage?.promptTokens,
    cached_tokens: usage?.cachedTokens,
    cache_write_tokens: usage?.cacheWriteTokens,
    output_tokens: usage?.completionTokens,
    reasoning_tokens: usage?.reasoningTokens,
    estimated: usage?.estimated || undefined,
    cost_usd: outcome?.cost === undefined ? undefined : toDollars(outcome.cost),
    gateway_ms: rounded(record.gatewayMs),
    queued_ms: rounded(record.queuedMs() || undefined),
    upstream_ms: metadata && rounded(record.upstreamStopwatch.endedMs()),
    first_token_ms: rounded(record.firstTokenMs()),
    total_ms: rounded(record.totalMs),
  })
}

const maxMethodLength = 20

/** The fields that help to find a client's mistake: the broken rule, the parameter and the client. */
function rejectionFields({ rejection }: RequestRecord) {
  if (rejection === undefined) return undefined
  const { error, client } = rejection
  return {
    reason: error.log.reason,
    param: error.param === null ? undefined : loggable(error.param),
    user_agent: client?.userAgent === undefined ? undefined : loggable(client.userAgent),
    claimed_key: error.log.key === undefined ? client?.claimedKey : undefined,
  }
}

/** The model name in the request; undefined if it equals the slug of the model. */
function requestedModel({ metadata, rejection }: RequestRecord): string | undefined {
  const requested = metadata?.requestedModel ?? rejection?.error.log.model
  if (requested === undefined || requested === metadata?.model) return undefined
  // No model name contains a space: the text after one can be part of a prompt.
  return loggable(requested.replace(/(?<=\S)\s[^]*$/, '…'))
}

function attemptFields({ route, outcome, durationMs: milliseconds }: Attempt) {
  return { provider: route.provider.name, model: route.model, outcome, ms: rounded(milliseconds) }
}

/** Rounds to microseconds. */
function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 1000) / 1000
}
