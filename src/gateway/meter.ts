import type { GenerationEvent } from '../generation/events.ts'
import type { Generation } from '../generation/request.ts'
import type { Usage } from '../generation/usage.ts'
import { estimatedPrompt, estimatedTokens } from './estimate.ts'

/** Counts what a request takes while its answer passes by. */
export type Meter = {
  add(batch: readonly GenerationEvent[]): void
  /** What the provider counted, else an estimate of what has passed. */
  usage(): MeteredUsage
}

export type MeteredUsage = Usage & { readonly estimated: boolean }

export function createMeter(generation: Generation): Meter {
  let told: Usage | undefined
  let characters = 0
  let reasoning = 0

  function addEvent(event: GenerationEvent): void {
    if (event.type === 'text') characters += event.text.length
    else if (event.type === 'reasoning') reasoning += event.text.length
    else if (event.type === 'usage') told = event.usage
    else if (event.type === 'tool-call') characters += event.call.name.length + event.call.arguments.length
  }

  return {
    add: (batch) => batch.forEach(addEvent),
    usage() {
      if (told) return { ...told, estimated: false }
      return {
        promptTokens: estimatedPrompt(generation),
        completionTokens: estimatedTokens(characters + reasoning),
        reasoningTokens: estimatedTokens(reasoning),
        estimated: true,
      }
    },
  }
}
