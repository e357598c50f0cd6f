import type { RunEvent } from '../../../../../src/api/responses/events/run-event.ts'
import type { ResponseHead } from '../../../../../src/api/responses/request/head.ts'
import {
  opening,
  cancelled,
  created,
  ended,
  failed,
  finish,
  headOf,
  textDelta,
  started,
  reasoningDelta,
  citations,
} from './step-cases.ts'

/** Pieces as they may come: nothing at all, what JSON escapes, and the two halves of one character. */
const pieces = ['', 'a', ' river', '"', '\\', '\n\n', '\u2028', '\0', 'é', '😀', '\ud83d', '\ude00', '水']

const kinds = ['function_call', 'custom_tool_call'] as const

/** A random run: the events of a model in any order, with an end or none, and sometimes further events after it. */
export function randomRun(random: () => number): readonly [head: ResponseHead, events: readonly RunEvent[]] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
  const piece = () => pick(pieces)
  const middle = (): RunEvent => {
    const dice = random()
    if (dice < 0.4) return textDelta(piece())
    if (dice < 0.6) return reasoningDelta(piece())
    if (dice < 0.62) return citations(piece())
    if (dice < 0.64) return { type: 'reasoning-end', encrypted: `sealed ${piece()}` }
    if (dice < 0.7) return { type: 'call', kind: pick(kinds), callId: `call_${dice}`, name: 'measure' }
    if (dice < 0.82) return { type: 'call-delta', text: piece() }
    if (dice < 0.86) return { type: 'call-end' }
    if (dice < 0.9) return { type: 'answering', provider: 'acme', warnings: [`A loss of ${piece()}.`] }
    if (dice < 0.95) return { type: 'tier', tier: pick(['default', 'priority', null]) }
    return finish(pick(['stop', 'length', 'content_filter']))
  }
  const many = (max: number) => Array.from({ length: random() ** 2 * max }, middle)
  const head = headOf({ background: random() < 0.5, warnings: random() < 0.2 ? ['A loss.'] : [] })
  const beginning = random() < 0.8 ? opening : pick([[created], [created, started]])
  const end = random() < 0.8 ? [pick([ended, cancelled, failed])] : []
  const behind = random() < 0.2 ? [...many(5), ended] : []
  return [head, [...beginning, ...many(60), ...end, ...behind]]
}
