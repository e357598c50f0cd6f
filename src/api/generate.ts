import { joinWarnings } from '../domain/generation/warnings.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { GenerateRequest, GenerationStream } from '../gateway/generate-request.ts'
import { allowedModels } from '../gateway/models/allowed-models.ts'
import type { Models } from '../gateway/models/models.ts'
import type { PreparedGeneration } from '../gateway/models/prepare-generation.ts'
import {
  firstTokenTimeoutOf,
  type ReceivedRequest,
  type RequestContext,
  requestMetadata,
} from '../http/request-context.ts'

/** The context of a route behind the guard. */
type Routed = Pick<RequestContext, 'admission' | 'record'> & {
  readonly caller: Omit<
    RequestContext,
    'requestId' | 'body' | 'admission' | 'record' | 'headers' | 'signal' | 'onWaiting'
  >
  readonly request: Request
  readonly set: { readonly headers: Readonly<Record<string, unknown>> }
}

/** The context of a request; `body` is what its content log keeps. */
export function contextOf(
  { caller, admission, record, request, set }: Routed,
  body?: object,
): RequestContext {
  const { headers, signal } = request
  return {
    requestId: String(set.headers['x-request-id']),
    ...caller,
    body,
    admission,
    record,
    headers,
    signal,
  }
}

/** Dependencies of every endpoint that generates. */
export type GenerationDependencies = {
  readonly gateway: Gateway
  readonly models: () => Models
  /** Whether a parameter that the model does not support is rejected with 400, or dropped with a warning. */
  readonly unsupported: 'reject' | 'drop'
}

/** A generation that has begun. */
export type StartedGeneration = {
  readonly prepared: PreparedGeneration
  readonly stream: GenerationStream
  /** Those of the request, and those of the provider that serves it. */
  readonly warnings: readonly string[]
}

/**
 * Starts the generation of a request whose body is valid: prepares it with the models that its key may use, and sends it to
 * the gateway. A request that cannot be prepared is recorded in the usage. Rejects with its error, or with that of the gateway.
 */
export async function startGeneration(
  received: ReceivedRequest,
  prepare: (models: Models) => PreparedGeneration,
  { gateway, models }: Pick<GenerationDependencies, 'gateway' | 'models'>,
  onSettled?: GenerateRequest['onSettled'],
): Promise<StartedGeneration> {
  const { context } = received
  let prepared: PreparedGeneration
  try {
    prepared = prepare(allowedModels(models(), context.limits.models))
  } catch (error) {
    await recordUnprepared(error, received, { gateway, models })
    throw error
  }
  const metadata = requestMetadata(received, prepared.slug, gateway)
  const stream = await generate(prepared, metadata, context, gateway, onSettled)
  return { prepared, stream, warnings: joinWarnings(prepared.warnings, stream.warnings) }
}

/** Sends a prepared request to the gateway. Rejects with the 400 of an invalid header. */
export function generate(
  { model, generation, warnings }: PreparedGeneration,
  metadata: GenerateRequest['metadata'],
  { organization, limits, admission, record, body, headers, signal, onWaiting }: RequestContext,
  gateway: Gateway,
  onSettled?: GenerateRequest['onSettled'],
): Promise<GenerationStream> {
  const { stream } = metadata
  const { billing } = organization
  const { budgets } = limits
  try {
    return gateway.generate({
      metadata,
      observer: record,
      billing,
      budgets,
      admission,
      model,
      generation,
      stream,
      fields: body && Object.keys(body),
      warnings,
      content: metadata.contentLog && body,
      firstTokenTimeoutMs: firstTokenTimeoutOf(headers),
      onSettled,
      onWaiting,
      signal,
    })
  } catch (error) {
    // An async function would have a promise of its own.
    return Promise.reject(error)
  }
}

/** Records a request whose body is valid, but that is rejected before the gateway is called. */
export function recordUnprepared(
  error: unknown,
  received: ReceivedRequest,
  { gateway, models }: Pick<GenerationDependencies, 'gateway' | 'models'>,
): Promise<void> {
  const { labels, context } = received
  const slug = labels.model === undefined ? undefined : models().find(labels.model)?.slug
  context.admission.markRecorded()
  return gateway.recordRejected(requestMetadata(received, slug, gateway), error, context.record)
}
