import type { Complaint } from '../../generation/complaint.ts'
import type { GenerationEvent } from '../../generation/events.ts'
import type { Generation } from '../../generation/request.ts'
import { ApiError } from '../../lib/errors.ts'
import { parseJson } from '../../lib/json.ts'
import { linkedAbort } from '../../lib/linked-abort.ts'
import { readText } from '../../lib/read-text.ts'
import type { Stopwatch } from '../../lib/stopwatch.ts'
import type { Provider, RemoteKind } from '../../providers/provider.ts'
import type { Target, Wire } from '../../providers/wires/wire.ts'
import { reasonOf } from '../ending.ts'
import { createDeadlines } from './deadlines.ts'
import { toApiError, unavailable } from './failure.ts'
import { post } from './fetch.ts'
import { keysOf } from './headers.ts'
import { readAnswer } from './read-answer.ts'
import { retryAfterOf } from './retry-after.ts'

/** One question to one provider. */
export type Ask = {
  readonly provider: Provider
  readonly target: Target
  readonly generation: Generation
  readonly signal: AbortSignal
  readonly upstream?: Stopwatch | undefined
  readonly warn: (sentence: string) => void
  /** The provider has taken the call: its answer has begun, though nothing may have been said yet. */
  readonly accepted: () => void
}

/**
 * Asks the provider and gives what it says, a batch of events at a time. Every failure is thrown, as the error
 * that the caller would get, after the events that came before it. Leaving the generator, or the signal, ends
 * the upstream call.
 */
export function ask(question: Ask): AsyncGenerator<readonly GenerationEvent[]> {
  const { kind } = question.provider
  if (!('answer' in kind)) return askRemote(question, kind)
  question.accepted()
  return kind.answer(question.generation, question.signal)
}

async function* askRemote(question: Ask, kind: RemoteKind): AsyncGenerator<readonly GenerationEvent[]> {
  const { provider, target, signal, upstream } = question
  const body = JSON.stringify(kind.wire.render(question.generation, target, question.warn))
  const { controller: abort, letGo } = linkedAbort(signal, () => reasonOf(signal))
  const deadlines = createDeadlines(provider, abort)
  const heard = () => {
    upstream?.stop()
    deadlines.heard()
  }
  try {
    upstream?.start()
    const response = await post(provider, kind, target, body, abort)
    if (!response.ok) throw await refusal(response, kind.wire, provider)
    question.accepted()
    for await (const batch of readAnswer(response, kind.wire, heard)) {
      deadlines.begun()
      const failure = batch.find(isFailure)
      const said = failure ? batch.slice(0, batch.indexOf(failure)) : batch
      if (said.length > 0) yield said
      if (failure) throw errorOf(failure, provider, abort.signal)
      upstream?.start()
    }
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : asFailure(error, provider)
  } finally {
    upstream?.stop()
    deadlines.stop()
    letGo()
    abort.abort()
  }
}

type Failure = Extract<GenerationEvent, { readonly type: 'failure' }>

function isFailure(event: GenerationEvent): event is Failure {
  return event.type === 'failure'
}

/** An answer that ends because of us is told as what we did. */
function errorOf({ complaint }: Failure, provider: Provider, aborted: AbortSignal): unknown {
  return aborted.aborted ? aborted.reason : failureOf(complaint, provider)
}

/** In bytes. An error page can be any size; its beginning says enough. */
const longestRefusal = 1024 * 1024

async function refusal(response: Response, wire: Wire, provider: Provider): Promise<ApiError> {
  const text = await readText(response, longestRefusal).catch(() => '')
  const body = parseJson(text)
  const complaint = body === undefined ? { message: text } : wire.parseError(body)
  const retryAfter = retryAfterOf(response.headers) ?? complaint.retryAfter
  // The status line is the provider's own word; one inside the body is often a copy of another's.
  return failureOf({ ...complaint, status: response.status, retryAfter }, provider)
}

function asFailure(error: unknown, provider: Provider): unknown {
  if (error instanceof ApiError) return error
  return unavailable(provider.name, 'its answer could not be read')
}

function failureOf(complaint: Complaint, provider: Provider): ApiError {
  return toApiError(complaint, provider.name, hostOf(provider), keysOf(provider))
}

function hostOf(provider: Provider): string {
  return URL.parse(provider.baseUrl)?.host ?? ''
}
