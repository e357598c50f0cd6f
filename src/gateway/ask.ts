import type { GenerationEvent } from '../generation/events.ts'
import type { Generation } from '../generation/request.ts'
import { ApiError } from '../lib/errors.ts'
import { parseJson } from '../lib/json.ts'
import { readText } from '../lib/read-text.ts'
import { createWatchdog } from '../lib/watchdog.ts'
import type { Provider, RemoteKind } from '../providers/provider.ts'
import type { Target, Wire } from '../providers/wires/wire.ts'
import { timedOut, toApiError, unavailable } from './failure.ts'
import { post } from './fetch.ts'
import { readAnswer } from './read-answer.ts'
import { retryAfterOf } from './retry-after.ts'

/** One question to one provider. */
export type Ask = {
  readonly provider: Provider
  readonly target: Target
  readonly generation: Generation
  readonly signal: AbortSignal
  readonly warn: (sentence: string) => void
  /** The provider has taken the call: its answer has begun, though nothing may have been said yet. */
  readonly accepted: () => void
}

/**
 * Asks the provider and gives what it says, a batch of events at a time. Every failure is thrown, as the error
 * that the caller would get, after the events that came before it. Leaving the generator, or the signal, ends
 * the upstream call.
 */
export async function* ask(question: Ask): AsyncGenerator<readonly GenerationEvent[]> {
  const { kind } = question.provider
  if ('answer' in kind) {
    question.accepted()
    yield* kind.answer(question.generation, question.signal)
  } else yield* askRemote(question, kind)
}

async function* askRemote(question: Ask, kind: RemoteKind): AsyncGenerator<readonly GenerationEvent[]> {
  const { provider, target, signal } = question
  const body = JSON.stringify(kind.wire.render(question.generation, target, question.warn))
  const abort = new AbortController()
  const leave = () => abort.abort(signal.reason)
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  const expired = (why: string) => () => abort.abort(timedOut(provider.name, why))
  let deadline = createWatchdog(provider.timeouts.firstByte, expired('no answer came'))
  let begun = false
  try {
    const response = await post(provider, kind, target, body, abort)
    if (!response.ok) throw await refusal(response, kind.wire, provider)
    question.accepted()
    for await (const batch of readAnswer(response, kind.wire, () => begun && deadline.touch())) {
      if (!begun) {
        begun = true
        deadline.stop()
        deadline = createWatchdog(provider.timeouts.idle, expired('the answer stopped'))
      }
      yield* untilFailure(batch, provider, abort.signal)
    }
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : asFailure(error, provider)
  } finally {
    deadline.stop()
    signal.removeEventListener('abort', leave)
    abort.abort()
  }
}

/** The batch as it is, or what came before the failure in it and then the failure as an error. */
function* untilFailure(
  batch: readonly GenerationEvent[],
  provider: Provider,
  aborted: AbortSignal,
): Generator<readonly GenerationEvent[]> {
  const place = batch.findIndex((event) => event.type === 'failure')
  if (place < 0) return yield batch
  if (place > 0) yield batch.slice(0, place)
  const failure = batch[place]
  if (aborted.aborted || failure?.type !== 'failure') throw aborted.reason
  throw toApiError(failure.complaint, provider.name, hostOf(provider))
}

/** In bytes. An error page can be any size; its beginning says enough. */
const longestRefusal = 1024 * 1024

async function refusal(response: Response, wire: Wire, provider: Provider): Promise<ApiError> {
  const text = await readText(response, longestRefusal).catch(() => '')
  const body = parseJson(text)
  const complaint = body === undefined ? { message: text } : wire.parseError(body)
  const retryAfter = retryAfterOf(response.headers) ?? complaint.retryAfter
  // The status line is the provider's own word; one inside the body is often a copy of another's.
  return toApiError({ ...complaint, status: response.status, retryAfter }, provider.name, hostOf(provider))
}

function asFailure(error: unknown, provider: Provider): unknown {
  if (error instanceof ApiError) return error
  return unavailable(provider.name, 'its answer could not be read')
}

function hostOf(provider: Provider): string {
  return URL.parse(provider.baseUrl)?.host ?? ''
}
