import { gatewayStopping, providerKeyMissing } from '../lib/errors.ts'
import { wait } from '../lib/wait.ts'
import type { RequestFacts } from '../storage/request-facts.ts'
import { openAnswer } from './answering.ts'
import { Call } from './call.ts'
import { candidates } from './candidates.ts'
import type { Answering, Booking, Gateway, GatewayParts, Question } from './gateway.ts'
import type { QueuedCall } from './limits/admission.ts'
import { lost } from './lost.ts'
import type { Model } from './models/model.ts'
import { estimatedPrompt } from './money/estimate.ts'
import { endOf } from './money/outcome.ts'
import { spendingOf } from './money/spending.ts'
import { mayPass, othersMayAnswer, pauseBefore } from './retry.ts'
import { unavailable } from './upstream/failure.ts'

/**
 * Asks the model's routes in turn until one begins to answer. The answer is handed over when its first event is
 * there, so that a failure before it is thrown here, and the next route tried. Where no calls are taken any more, only
 * those are asked that were booked.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const { books, calls, observer } = parts
  return {
    generate: (question) =>
      calls.refusing() && !question.booked
        ? refused(question.facts, parts)
        : accountedAnswer(question, parts),
    book: (booking, write) =>
      calls.refusing() ? refused(booking.facts, parts) : bookedCall(booking, write, parts),
    async dropped(facts, error, write) {
      await books.closeAtLast(facts, endOf(error), write)
      observer?.call(facts, true).ended(endOf(error))
    },
    turnedAway: (facts, error) => turnedAway(facts, error, parts),
  }
}

async function refused(facts: RequestFacts, parts: GatewayParts): Promise<never> {
  const error = gatewayStopping()
  await turnedAway(facts, error, parts)
  throw error
}

async function turnedAway(
  facts: RequestFacts,
  error: unknown,
  { books, observer, log }: GatewayParts,
): Promise<void> {
  observer?.noted(facts)
  await books.close(facts, endOf(error)).catch(lost(log))
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

/** Sees to it that the call is settled once, however it ends. */
async function accountedAnswer(question: Question, parts: GatewayParts): Promise<Answering> {
  const call = new Call(question, parts)
  const { model } = question
  try {
    // Its end is in the books already: what is taken from now on would never be given back.
    if (call.stop.aborted) throw call.stop.reason
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const opened = call.open()
    if (opened) await opened
    return await firstAnswer(call, parts)
  } catch (error) {
    await call.over(error).catch(lost(parts.log))
    throw error
  }
}

/** Asks each route, and asks it again after failures that may pass. */
async function firstAnswer(call: Call, parts: GatewayParts): Promise<Answering> {
  const { model } = call.question
  let failure: unknown
  for (const route of candidates(model.routes)) {
    if (!parts.breaker.allows(route)) {
      call.observed?.passedOver(route)
      continue
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await openAnswer(route, call, parts)
      } catch (error) {
        call.observed?.failed(error)
        call.meter.attemptFailed()
        if (call.stop.aborted) throw call.stop.reason
        failure = error
      }
      if (attempt >= parts.retries || !mayPass(failure)) break
      await pause(attempt, failure, call)
    }
    if (!othersMayAnswer(failure)) throw failure
  }
  throw failure ?? resting(model)
}

/** The provider is waited for, though nothing is under way. */
async function pause(attempt: number, error: unknown, { stop, observed }: Call): Promise<void> {
  observed?.upstream.start()
  await wait(pauseBefore(attempt, error), stop)
  observed?.upstream.stop()
}

function resting(model: Model): Error {
  const names = model.routes.map((route) => route.provider.name).join(', ')
  return unavailable(names, 'it failed several times in a row and is left alone for a moment', 5)
}
