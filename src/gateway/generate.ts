import { providerKeyMissing } from '../lib/errors.ts'
import { causeOf, type Log } from '../lib/log.ts'
import { once } from '../lib/once.ts'
import { wait } from '../lib/wait.ts'
import type { Outcome } from '../storage/usage.ts'
import { openAnswer } from './answering.ts'
import { candidates } from './candidates.ts'
import { createEnding, reasonOf } from './ending.ts'
import type { Answering, Booking, Gateway, GatewayParts, OpenQuestion, Question } from './gateway.ts'
import { withInlineImages } from './images/remote-image.ts'
import type { OpenCall, QueuedCall } from './limits/admission.ts'
import type { Model, ModelRoute } from './models/model.ts'
import { estimatedPrompt } from './money/estimate.ts'
import { createMeter } from './money/meter.ts'
import { endOf, outcomeOf } from './money/outcome.ts'
import { spendingOf } from './money/spending.ts'
import { mayPass, othersMayAnswer, pauseBefore } from './retry.ts'
import { unavailable } from './upstream/failure.ts'

/**
 * Asks the model's routes in turn until one begins to answer. The answer is handed over when its first event is
 * there, so that a failure before it is thrown here, and the next route tried.
 */
export function createGateway(parts: GatewayParts): Gateway {
  return {
    generate: (question) => accountedAnswer(question, parts),
    book: (booking, write) => bookedCall(booking, write, parts),
    async dropped(facts, error, write) {
      await parts.books.closeAtLast(facts, endOf(error), write)
      parts.observer?.call(facts, true).ended(endOf(error))
    },
    turnedAway(facts, error) {
      parts.observer?.noted(facts)
      return parts.books.close(facts, endOf(error)).catch(lost(parts.log))
    },
  }
}

async function bookedCall(booking: Booking, write: () => void, parts: GatewayParts): Promise<QueuedCall> {
  const { books, log } = parts
  const { facts, billing, admission, model, generation } = booking
  parts.observer?.noted(facts)
  let queued: QueuedCall | undefined
  try {
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const promptTokens = estimatedPrompt(generation)
    queued = admission.queue(promptTokens)
    await books.open(facts, billing, () => spendingOf(generation, model, promptTokens), write)
    return queued
  } catch (error) {
    queued?.drop()
    await books.close(facts, endOf(error)).catch(lost(log))
    throw error
  }
}

/**
 * Takes what the call needs of limits and balance, and sees to it that it is settled once, however it ends. Of the
 * tokens only the prompt is taken: a guess at the answer would refuse callers who ask for much and get little.
 */
async function accountedAnswer(question: Question, parts: GatewayParts): Promise<Answering> {
  const { model, generation, admission, facts, billing, signal, booked } = question
  const meter = createMeter(generation)
  const observed = parts.observer?.call(facts, booked !== undefined)
  let call: OpenCall | undefined = booked
  let outcome: Outcome | undefined
  const end = (error: unknown) => {
    outcome = outcomeOf({ meter, model, generation }, error)
    observed?.ended(outcome)
    call?.close((outcome.usage?.promptTokens ?? 0) + (outcome.usage?.completionTokens ?? 0))
    const close = booked ? parts.books.closeAtLast : parts.books.close
    return close(facts, outcome, question.ended?.(error, outcome.usage ?? meter.usage()))
  }
  const ending = createEnding(signal, end, lost(parts.log))
  try {
    // Its end is in the books already: what is taken from now on would never be given back.
    if (signal.aborted) throw reasonOf(signal)
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    if (!booked) {
      const promptTokens = estimatedPrompt(generation)
      call = admission.open(promptTokens)
      await parts.books.open(facts, billing, () => spendingOf(generation, model, promptTokens))
    }
    const inlined = once(() => withInlineImages(generation, signal, parts.images))
    return await firstAnswer({ ...question, meter, ending, outcome: () => outcome, inlined, observed }, parts)
  } catch (error) {
    await ending.over(error).catch(lost(parts.log))
    throw error
  }
}

/** For rows that could not be written at once, while nothing was promised to anybody. */
function lost(log: Log): (error: unknown) => void {
  return (error) => log.error('The usage of a request was not written at once.', { cause: causeOf(error) })
}

async function firstAnswer(question: OpenQuestion, parts: GatewayParts): Promise<Answering> {
  const { model, signal, observed } = question
  let failure: unknown
  for (const route of candidates(model.routes)) {
    if (!parts.breaker.allows(route)) {
      observed?.passedOver(route)
      continue
    }
    try {
      return await askRoute(route, question, parts)
    } catch (error) {
      if (signal.aborted) throw reasonOf(signal)
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
    question.observed?.asked(route)
    try {
      return await openAnswer(route, question, parts)
    } catch (error) {
      question.observed?.failed(error)
      if (question.signal.aborted || attempt >= parts.retries || !mayPass(error)) throw error
      await pause(attempt, error, question)
    }
  }
}

/** The provider is waited for, though nothing is under way. */
async function pause(attempt: number, error: unknown, question: OpenQuestion): Promise<void> {
  const { signal, observed } = question
  observed?.upstream.start()
  await wait(pauseBefore(attempt, error), signal)
  observed?.upstream.stop()
}

function resting(model: Model): Error {
  const names = model.routes.map((route) => route.provider.name).join(', ')
  return unavailable(names, 'it failed several times in a row and is left alone for a moment', 5)
}
