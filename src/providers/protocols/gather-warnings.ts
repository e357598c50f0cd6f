import type { Generation } from '../../domain/generation/request.ts'
import { Warnings } from '../../domain/generation/warnings.ts'
import type { Target, Warn, Protocol } from './protocol.ts'

/** The `render` of a wire: what this one ignores is gathered, and told in few sentences once the body is there. */
export function gathered(
  render: (generation: Generation, target: Target, warn: Warn) => Record<string, unknown>,
): Protocol['render'] {
  return (generation, target, warn) => {
    const warnings = new Warnings()
    const body = render(generation, target, warnings.add)
    for (const sentence of warnings.sentences()) warn(sentence)
    return body
  }
}
