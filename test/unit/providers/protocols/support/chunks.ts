import type { GenerationEvent } from '../../../../../src/domain/generation/events.ts'
import { kinds } from '../../../../../src/providers/kinds/kinds.ts'
import type { Protocol } from '../../../../../src/providers/protocols/protocol.ts'
import { readStream } from './parsed-reply.ts'

/** The protocol of a kind. */
export function protocolNamed(name: string): Protocol {
  const kind = kinds[name]
  if (!kind || !('protocol' in kind)) throw new Error(`there is no wire for ${name}`)
  return kind.protocol
}

/** A chunk of choice 0. */
export function delta(delta: object, finish: string | null = null, rest: object = {}): object {
  return { choices: [{ index: 0, delta, finish_reason: finish }], ...rest }
}

/** The events of a stream of these chunks; a string is data as it is. */
export function eventsOf(kind: string, ...chunks: (object | string)[]): GenerationEvent[] {
  const frames = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk)))
  return readStream(protocolNamed(kind), Buffer.from(frames.map((frame) => `data: ${frame}\n\n`).join('')))
}
