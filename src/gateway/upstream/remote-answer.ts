import type { Complaint } from '../../generation/complaint.ts'
import type { GenerationEvent } from '../../generation/events.ts'
import { ApiError } from '../../lib/errors.ts'
import { parseJson } from '../../lib/json.ts'
import { readText } from '../../lib/read-text.ts'
import type { Source } from '../../lib/source.ts'
import { onAbort } from '../../lib/stop.ts'
import type { Stopwatch } from '../../lib/stopwatch.ts'
import type { Provider, RemoteKind } from '../../providers/provider.ts'
import type { Wire } from '../../providers/wires/wire.ts'
import { reasonOf } from '../ending.ts'
import type { Ask } from './ask.ts'
import { Deadlines } from './deadlines.ts'
import { toApiError, unavailable } from './failure.ts'
import { post } from './fetch.ts'
import { keysOf } from './headers.ts'
import { answerBody, type AnswerBody } from './answer-body.ts'
import { retryAfterOf } from './retry-after.ts'

type Batch = readonly GenerationEvent[]

/** The answer of a provider on the network, which is asked when the first batch is wanted. */
export class RemoteAnswer implements Source<Batch> {
  readonly #question: Ask
  readonly #kind: RemoteKind
  readonly #upstream: Stopwatch | undefined
  readonly #abort = new AbortController()
  readonly #letGo: () => void
  readonly #deadlines: Deadlines
  #body: AnswerBody | undefined
  #failure: unknown
  #closed = false

  constructor(question: Ask, kind: RemoteKind) {
    const { signal, provider, upstream } = question
    this.#question = question
    this.#kind = kind
    this.#upstream = upstream
    this.#letGo = onAbort(signal, () => this.#abort.abort(reasonOf(signal)))
    this.#deadlines = new Deadlines(provider, this.#abort)
  }

  async next(): Promise<Batch | undefined> {
    if (this.#closed) return undefined
    try {
      if (this.#failure) throw this.#failure
      if (this.#body?.over()) return this.#release()
      this.#upstream?.start()
      this.#deadlines.wanted()
      const body = (this.#body ??= await this.#begin())
      while (!body.over()) {
        this.#upstream?.start()
        const piece = await body.read()
        // What a call says that was closed is nobody's.
        if (this.#closed) return undefined
        this.#upstream?.stop()
        const batch = body.take(piece)
        if (batch.length > 0) return this.#said(batch)
        this.#deadlines.heard()
      }
      return this.#release()
    } catch (error) {
      if (this.#closed) return undefined
      const { aborted, reason } = this.#abort.signal
      this.close()
      throw aborted ? reason : asFailure(error, this.#question.provider)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#release()
    this.#abort.abort()
  }

  /** For an answer that was read to its end there is no call any more that could be ended. */
  #release(): undefined {
    this.#closed = true
    this.#upstream?.stop()
    this.#deadlines.stop()
    this.#letGo()
    this.#body?.close()
  }

  /** What the provider says before it fails comes before its failure. */
  #said(batch: Batch): Batch {
    this.#deadlines.begun()
    const failure = batch.find(isFailure)
    if (failure === undefined) return batch
    this.#failure = errorOf(failure, this.#question.provider, this.#abort.signal)
    const said = batch.slice(0, batch.indexOf(failure))
    if (said.length === 0) throw this.#failure
    return said
  }

  async #begin(): Promise<AnswerBody> {
    const { provider, target, generation, warn, accepted } = this.#question
    const { wire } = this.#kind
    const text = JSON.stringify(wire.render(generation, target, warn))
    const response = await post(provider, this.#kind, target, text, this.#abort)
    if (!response.ok) throw await refusal(response, wire, provider)
    accepted()
    const body = answerBody(response, wire)
    if (this.#closed) body.close()
    return body
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
