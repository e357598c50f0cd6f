import type { Generation } from '../../generation/request.ts'
import { Warnings } from '../../generation/warnings.ts'
import type { Target, Warn, Wire } from './wire.ts'

/** The `render` of a wire: what this one ignores is gathered, and told in few sentences once the body is there. */
export function gathered(
  render: (generation: Generation, target: Target, warn: Warn) => Record<string, unknown>,
): Wire['render'] {
  return (generation, target, warn) => {
    const warnings = new Warnings()
    const body = render(generation, target, warnings.add)
    for (const sentence of warnings.sentences()) warn(sentence)
    return body
  }
}
