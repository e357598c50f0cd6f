import type { Generation } from '../../../domain/generation/request.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Traits } from './models.ts'

/** Temperature and top_p, as far as the model takes them. 1 is what they are anyway. */
export function renderSampling(
  generation: Generation,
  traits: Traits,
  thinks: boolean,
  target: Target,
  warn: Warn,
) {
  const temperature = generation.temperature === 1 ? undefined : generation.temperature
  const topP = generation.topP === 1 ? undefined : generation.topP
  const by = traits.fixedSampling ? target.model : `${target.model} while it reasons`
  const leaveOut = (name: string) => warn({ what: 'Parameter', name, by })
  const refused = traits.fixedSampling === true || thinks
  if (refused && temperature !== undefined) leaveOut('temperature')
  if (refused && topP !== undefined) leaveOut('top_p')
  if (refused || (temperature ?? topP) === undefined) return {}
  if (temperature === undefined) return { top_p: topP }
  if (topP !== undefined)
    warn({ what: 'Parameter', name: 'top_p', by: 'anthropic together with temperature' })
  return { temperature: lowered(temperature, warn) }
}

function lowered(temperature: number, warn: Warn): number {
  if (temperature <= 1) return temperature
  warn('anthropic takes a temperature of at most 1; it was lowered to that.')
  return 1
}
