import { formatUsd } from '../lib/usd.ts'
import type { RequestRecord } from './request-record.ts'

/** An event of a request to a model. It has nothing of the prompt or the response. */
export type LiveEvent = {
  readonly type: 'start' | 'queued' | 'dequeued' | 'first_token' | 'end' | 'dropped'
} & Readonly<Record<string, string | number | boolean | null>>

/** The start of a call. */
export function startEvent(record: RequestRecord): LiveEvent {
  return {
    type: 'start',
    ...identity(record),
    // A reader that comes later receives the start of a request in progress later.
    elapsed_ms: elapsedMs(record),
    stream: record.metadata?.stream ?? false,
    background: record.background,
  }
}

/** A request begins to wait for a slot of a provider, or its wait has ended, with a slot or without. */
export function queueEvent(record: RequestRecord): LiveEvent {
  const { queuedFor } = record
  return {
    type: queuedFor === undefined ? 'dequeued' : 'queued',
    ...identity(record),
    provider: queuedFor?.provider.name ?? null,
    elapsed_ms: elapsedMs(record),
  }
}

/** The first token of a response. */
export function firstTokenEvent(record: RequestRecord): LiveEvent {
  return {
    type: 'first_token',
    ...identity(record),
    provider: providerOf(record),
    elapsed_ms: Math.round(record.firstEventsMs ?? 0),
  }
}

/** The end of a request, with what it has used. */
export function endEvent(record: RequestRecord): LiveEvent {
  const { outcome } = record
  return {
    type: 'end',
    ...identity(record),
    provider: outcome?.provider ?? providerOf(record),
    elapsed_ms: elapsedMs(record),
    status: record.status(),
    error: record.errorCode() ?? null,
    input_tokens: outcome?.usage?.promptTokens ?? 0,
    output_tokens: outcome?.usage?.completionTokens ?? 0,
    cost_usd: outcome?.cost === undefined ? null : formatUsd(outcome.cost),
  }
}

/** The model as the client named it is not part of it, because it could be any text. */
function identity({ id, metadata }: RequestRecord) {
  return {
    request: id,
    time: new Date().toISOString(),
    organization: metadata?.organization ?? null,
    key: metadata?.key ?? null,
    api: metadata?.api ?? null,
    model: metadata?.model ?? null,
  }
}

function providerOf({ attempts }: RequestRecord): string | null {
  return attempts.at(-1)?.route.provider.name ?? null
}

function elapsedMs({ startedAt }: RequestRecord): number {
  return Math.round(performance.now() - startedAt)
}
