import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { OpenableStream } from '../../lib/push-stream.ts'
import { attachedLength, requireBounded } from '../streams/metered-stream.ts'

type Batch = readonly GenerationEvent[]

/** An answer broke off with this error after it had begun, and the caller has not seen anything of it. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'
  readonly error: unknown

  constructor(error: unknown) {
    super('The answer broke off.')
    this.error = error
  }
}

/**
 * Returns all events of an answer that is not streamed: its caller sees nothing of it before its end. Rejects with
 * `BrokenAnswer` if it ends with a failure after its first events.
 */
export async function completeAnswer(
  first: Promise<Batch | undefined>,
  upstream: OpenableStream<Batch>,
  provider: string,
): Promise<Batch> {
  const events = [...((await first) ?? [])]
  let [characters, attached] = [0, 0]
  try {
    await upstream.forEach((batch) => {
      for (const event of batch) events.push(event)
      characters += outputCharacters(batch)
      attached += attachedLength(batch)
      requireBounded(characters, attached, provider)
    })
  } catch (error) {
    upstream.close()
    throw new BrokenAnswer(error)
  }
  return events
}

function outputCharacters(batch: Batch): number {
  let characters = 0
  for (const event of batch) {
    if (event.type === 'text' || event.type === 'reasoning') characters += event.text.length
    else if (event.type === 'tool-call-delta') characters += event.arguments.length
  }
  return characters
}
