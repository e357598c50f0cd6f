import type { Generation } from '../generation/request.ts'
import { clientGone, providerKeyMissing } from '../lib/errors.ts'
import { causeOf, type Log } from '../lib/log.ts'
import { once } from '../lib/once.ts'
import type { Stopwatch } from '../lib/stopwatch.ts'
import { wait } from '../lib/wait.ts'
import type { RequestFacts } from '../storage/request-facts.ts'
import type { Billing } from '../storage/tables.ts'
import { type Answering, openAnswer } from './answering.ts'
import type { Books } from './books.ts'
import type { Breaker } from './breaker.ts'
import { candidates } from './candidates.ts'
import { createEnding, type Ending } from './ending.ts'
import { unavailable } from './failure.ts'
import type { Admission, OpenCall } from './limits.ts'
import { createMeter, type Meter } from './meter.ts'
import type { Model, ModelRoute } from './model.ts'
import { endOf, outcomeOf } from './outcome.ts'
import type { Surroundings } from './pinned-fetch.ts'
import type { ProviderStates } from './provider-states.ts'
import { withInlineImages } from './remote-image.ts'
import { mayPass, othersMayAnswer, pauseBefore } from './retry.ts'
import { spendingOf } from './spending.ts'

/** A question of an organization to a model. */
export type Question = {
  readonly facts: RequestFacts
  readonly billing: Billing
  /** What lets the call out: it is opened before the first try, and closed however the call ends. */
  readonly admission: Admission
  /** The model that serves it: for a fast variant, not the one that the caller named. */
  readonly model: Model
  readonly generation: Generation
  readonly stream: boolean
  /** Fires when the caller leaves. */
  readonly signal: AbortSignal
  /** Runs while a provider is waited for, over all tries. */
  readonly upstream?: Stopwatch
}

/** A question that was let out. */
export type OpenQuestion = Question & {
  readonly meter: Meter
  readonly ending: Ending
  /** The generation with the bytes of its images, for providers that take no addresses; fetched once. */
  readonly inlined: () => Promise<Generation>
}

export type Gateway = {
  generate(question: Question): Promise<Answering>
  /** Enters a request that came to nothing before there was a question. */
  turnedAway(facts: RequestFacts, error: unknown): Promise<void>
}

export type GatewayParts = {
  readonly breaker: Breaker
  readonly books: Books
  /** Further tries on each route. */
  readonly retries: number
  readonly states: ProviderStates
  /** Milliseconds for which an accepted stream may be silent before it is handed over all the same. */
  readonly patience: number
  /** Where images are fetched; the internet unless a test says otherwise. */
  readonly images?: Surroundings
  readonly log: Log
}

/**
 * Asks the model's routes in turn until one begins to answer. The answer is handed over when its first event is
 * there, so that a failure before it is thrown here, and the next route tried.
 */
export function createGateway(parts: GatewayParts): Gateway {
  return {
    generate: (question) => accountedAnswer(question, parts),
    turnedAway: (facts, error) => parts.books.close(facts, endOf(error)).catch(lost(parts.log)),
  }
}

/**
 * Takes what the call needs of limits and balance, and sees to it that it is settled once, however it ends. Of the
 * tokens only the prompt is taken: a guess at the answer would refuse callers who ask for much and get little.
 */
async function accountedAnswer(question: Question, parts: GatewayParts): Promise<Answering> {
  const { model, generation, admission, facts, billing, signal } = question
  const meter = createMeter(generation)
  let call: OpenCall | undefined
  const end = (error: unknown) => {
    const outcome = outcomeOf({ meter, model, generation }, error)
    call?.close((outcome.usage?.promptTokens ?? 0) + (outcome.usage?.completionTokens ?? 0))
    return parts.books.close(facts, outcome)
  }
  const ending = createEnding(signal, end, lost(parts.log))
  try {
    // Its end is in the books already: what is taken from now on would never be given back.
    if (signal.aborted) throw clientGone()
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const spending = spendingOf(generation, model)
    call = admission.open(spending.promptTokens)
    await parts.books.open(facts, billing, spending)
    const inlined = once(() => withInlineImages(generation, signal, parts.images))
    return await firstAnswer({ ...question, meter, ending, inlined }, parts)
  } catch (error) {
    await ending.over(error).catch(lost(parts.log))
    throw error
  }
}

/** For rows that could not be written while nothing was promised to anybody. */
function lost(log: Log): (error: unknown) => void {
  return (error) => log.error('The usage of a request was not written.', { cause: causeOf(error) })
}

async function firstAnswer(question: OpenQuestion, parts: GatewayParts): Promise<Answering> {
  const { model, signal } = question
  let failure: unknown
  for (const route of candidates(model.routes)) {
    if (!parts.breaker.allows(route)) continue
    try {
      return await askRoute(route, question, parts)
    } catch (error) {
      if (signal.aborted) throw clientGone()
      if (!othersMayAnswer(error)) throw error
      failure = error
    }
  }
  throw failure ?? resting(model)
}

/** Asks one route, and asks again after failures that may pass. */
async function askRoute(route: ModelRoute, question: OpenQuestion, parts: GatewayParts): Promise<Answering> {
  for (let attempt = 0; ; attempt++) {
    question.meter.asked(route)
    try {
      return await openAnswer(route, question, parts)
    } catch (error) {
      if (question.signal.aborted || attempt >= parts.retries || !mayPass(error)) throw error
      await wait(pauseBefore(attempt), question.signal)
    }
  }
}

function resting(model: Model): Error {
  const names = model.routes.map((route) => route.provider.name).join(', ')
  return unavailable(names, 'it failed several times in a row and is left alone for a moment', 5)
}
