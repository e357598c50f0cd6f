import type { ProviderError, GenerationEvent, Usage } from '../../../../../src/domain/generation/events.ts'
import { SseParser } from '../../../../../src/lib/sse.ts'
import type { Protocol } from '../../../../../src/providers/protocols/protocol.ts'

/** What a list of events comes to. */
export type ParsedReply = {
  readonly choices: readonly ParsedChoice[]
  readonly usage?: Usage
  readonly failures: readonly ProviderError[]
}
/** One choice; the ids of its calls apart, since some are made up. */
export type ParsedChoice = {
  text: string
  reasoning: string
  readonly calls: { readonly name: string; readonly arguments: string }[]
  readonly ids: string[]
  finish?: string
}

/** Adds the events up. */
export function parsedReply(events: readonly GenerationEvent[]): ParsedReply {
  const choices: ParsedChoice[] = []
  const failures: ProviderError[] = []
  let usage: Usage | undefined
  for (const event of events) {
    if (event.type === 'usage') usage = event.usage
    if (event.type === 'failure') failures.push(event.error)
    if (!('choice' in event)) continue
    const choice = (choices[event.choice] ??= { text: '', reasoning: '', calls: [], ids: [] })
    addTo(choice, event)
  }
  return { choices, usage, failures }
}

function addTo(choice: ParsedChoice, event: GenerationEvent): void {
  if (event.type === 'text') choice.text += event.text
  if (event.type === 'reasoning') choice.reasoning += event.text
  if (event.type === 'finish') choice.finish = event.reason
  if (event.type !== 'tool-call') return
  choice.calls.push({ name: event.call.name, arguments: event.call.arguments })
  choice.ids.push(event.call.id)
}

/** The events of a streamed body that arrives in these pieces; of all of it at once without them. */
export function readStream(
  protocol: Protocol,
  body: Uint8Array,
  cuts: readonly number[] = [],
): GenerationEvent[] {
  const parser = new SseParser()
  const events: GenerationEvent[] = []
  let state = protocol.stream.initial()
  const take = (frames: ReturnType<typeof parser.push>) => {
    for (const frame of frames) {
      const step = protocol.stream.step(state, frame)
      state = step.state
      events.push(...step.events)
    }
  }
  const ends = [...cuts, body.length]
  ends.forEach((end, index) => take(parser.push(body.subarray(ends[index - 1] ?? 0, end))))
  take(parser.end())
  return [...events, ...protocol.stream.end(state)]
}
