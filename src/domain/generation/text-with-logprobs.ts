import type { GenerationEvent } from './events.ts'

/** The log probabilities of a chunk, with the text that they belong to. */
export type LogprobsWithText = Extract<GenerationEvent, { readonly type: 'logprobs' }> & {
  readonly text?: string
}

/** The batch with each text joined to the log probabilities that directly follow it, for APIs that send both at once. */
export function joinLogprobs(
  batch: readonly GenerationEvent[],
): readonly (GenerationEvent | LogprobsWithText)[] {
  return batch.flatMap((event, index): readonly (GenerationEvent | LogprobsWithText)[] => {
    if (event.type === 'text') return isLogprobsOf(event.choice, batch[index + 1]) ? [] : [event]
    const previous = batch[index - 1]
    if (event.type !== 'logprobs' || previous?.type !== 'text' || previous.choice !== event.choice)
      return [event]
    return [{ ...event, text: previous.text }]
  })
}

function isLogprobsOf(choice: number, event: GenerationEvent | undefined): boolean {
  return event?.type === 'logprobs' && event.choice === choice
}
