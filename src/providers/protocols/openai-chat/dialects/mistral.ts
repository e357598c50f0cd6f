import { createHash } from 'node:crypto'
import type { Effort, Generation } from '../../../../domain/generation/request.ts'
import { nameSet } from '../../../../lib/text.ts'
import type { Body, Target, Warn } from '../../protocol.ts'
import type { Dialect } from '../dialect.ts'

/** Mistral rejects unknown fields, and has field names and values of its own. */
export const mistral: Dialect = {
  name: 'mistral',
  renames: { seed: 'random_seed' },
  supported: nameSet(
    'model messages stream stop max_tokens temperature top_p random_seed presence_penalty',
    'frequency_penalty response_format tools tool_choice parallel_tool_calls prediction prompt_mode',
    'reasoning_effort safe_prompt',
  ),
  alwaysSendsUsage: true,
  noDeveloperRole: true,
  plainMessages: true,
  callId,
  effort,
  adapt,
}

const maxTemperature = 1.5

function adapt(body: Body, generation: Generation, _target: Target, warn: Warn): Body {
  const { temperature = 0, toolChoice } = generation
  if (temperature > maxTemperature)
    warn(`\`temperature\` was lowered to ${maxTemperature}, the maximum of mistral.`)
  return {
    ...body,
    ...(temperature > maxTemperature ? { temperature: maxTemperature } : {}),
    ...(toolChoice === 'required' && body.tools ? { tool_choice: 'any' } : {}),
  }
}

function effort(effort: Effort, target: Target): Body {
  if (target.efforts) return { reasoning_effort: effort }
  return { reasoning_effort: effort === 'none' || effort === 'minimal' ? 'none' : 'high' }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Nine letters or digits; an id of another form is hashed to one, always the same for the same id. */
function callId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  const digest = createHash('sha256').update(id).digest().subarray(0, 9)
  return Array.from(digest, (byte) => alphabet[byte % alphabet.length]).join('')
}
