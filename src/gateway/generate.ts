import type { Generation } from '../generation/request.ts'
import { clientGone, providerKeyMissing } from '../lib/errors.ts'
import { wait } from '../lib/wait.ts'
import { type Answering, openAnswer } from './answering.ts'
import type { Breaker } from './breaker.ts'
import { candidates } from './candidates.ts'
import { unavailable } from './failure.ts'
import type { Model, ModelRoute } from './model.ts'
import type { ProviderStates } from './provider-states.ts'
import { blamesRoute, mayPass, othersMayAnswer, pauseBefore } from './retry.ts'

/** A question of an organization to a model. */
export type Question = {
  readonly organization: string
  /** The model that serves it: for a fast variant, not the one that the caller named. */
  readonly model: Model
  readonly generation: Generation
  readonly stream: boolean
  /** Fires when the caller leaves. */
  readonly signal: AbortSignal
}

export type Gateway = { generate(question: Question): Promise<Answering> }

export type GatewayParts = {
  readonly breaker: Breaker
  /** Further tries on each route. */
  readonly retries: number
  readonly states: ProviderStates
  /** Milliseconds for which an accepted stream may be silent before it is handed over all the same. */
  readonly patience: number
}

/**
 * Asks the model's routes in turn until one begins to answer. The answer is handed over when its first event is
 * there, so that a failure before it is thrown here, and the next route tried.
 */
export function createGateway(parts: GatewayParts): Gateway {
  return { generate: (question) => firstAnswer(question, parts) }
}

async function firstAnswer(question: Question, parts: GatewayParts): Promise<Answering> {
  const { model, signal } = question
  if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
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
async function askRoute(route: ModelRoute, question: Question, parts: GatewayParts): Promise<Answering> {
  for (let attempt = 0; ; attempt++) {
    try {
      const answering = await openAnswer(route, question, parts)
      parts.breaker.succeeded(route)
      return answering
    } catch (error) {
      if (blamesRoute(error)) parts.breaker.failed(route)
      if (question.signal.aborted || attempt >= parts.retries || !mayPass(error)) throw error
      await wait(pauseBefore(attempt), question.signal)
    }
  }
}

function resting(model: Model): Error {
  const names = model.routes.map((route) => route.provider.name).join(', ')
  return unavailable(names, 'it failed several times in a row and is left alone for a moment', 5)
}
