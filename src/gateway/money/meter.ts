import type { GenerationEvent } from '../../generation/events.ts'
import type { Generation } from '../../generation/request.ts'
import type { Usage } from '../../generation/usage.ts'
import { estimatedPrompt, estimatedTokens } from './estimate.ts'
import type { ModelRoute } from '../models/model.ts'

/** Counts what a request takes while its answer passes by. */
export type Meter = {
  /** The route is asked: it is the one that answers, unless another follows. */
  asked(route: ModelRoute): void
  add(batch: readonly GenerationEvent[]): void
  /** How many characters the answer has until now. */
  said(): number
  /** What the provider counted, else an estimate of what has passed. */
  usage(): MeteredUsage
  route(): ModelRoute | undefined
  /** Milliseconds since the meter was made, and until the first batch. */
  elapsed(): number
  firstToken(): number | undefined
}

export type MeteredUsage = Usage & { readonly estimated: boolean }

/** No call takes more; a provider that tells more has miscounted, and is not believed. */
const mostTokens = 1_000_000_000

function believable({ promptTokens, completionTokens }: Usage): boolean {
  return promptTokens + completionTokens <= mostTokens
}

/** The sentence beside counts that no provider told. */
export const estimatedUsage = 'The provider told no usage; the token counts are estimated.'

export function createMeter(generation: Generation, now = () => performance.now()): Meter {
  const startedAt = now()
  let route: ModelRoute | undefined
  let firstToken: number | undefined
  let told: Usage | undefined
  let finished = false
  let characters = 0
  let reasoning = 0

  function addEvent(event: GenerationEvent): void {
    if (event.type === 'text') characters += event.text.length
    else if (event.type === 'reasoning') reasoning += event.text.length
    else if (event.type === 'usage') told = believable(event.usage) ? event.usage : undefined
    else if (event.type === 'finish') finished = true
    else if (event.type === 'tool-call') characters += event.call.name.length + event.call.arguments.length
  }

  function usage(): MeteredUsage {
    const completionTokens = estimatedTokens(characters + reasoning)
    if (told && (finished || told.completionTokens >= completionTokens)) return { ...told, estimated: false }
    // Until the end, what a provider has counted of its answer is of its beginning.
    if (told) return { ...told, completionTokens, estimated: true }
    const reasoningTokens = estimatedTokens(reasoning)
    return { promptTokens: estimatedPrompt(generation), completionTokens, reasoningTokens, estimated: true }
  }

  return {
    asked(next) {
      route = next
    },
    add(batch) {
      firstToken ??= now() - startedAt
      for (const event of batch) addEvent(event)
    },
    said: () => characters + reasoning,
    usage,
    route: () => route,
    elapsed: () => now() - startedAt,
    firstToken: () => firstToken,
  }
}
