import { createHash } from 'node:crypto'
import type { Effort, Generation } from '../../../../domain/generation/request.ts'
import type { Target, Warn } from '../../protocol.ts'
import type { Body, Dialect } from '../dialect.ts'

/** Mistral refuses every field that it does not know, and has words of its own. */
export const mistral: Dialect = {
  name: 'mistral',
  renames: { seed: 'random_seed' },
  only: new Set([
    'model',
    'messages',
    'stream',
    'stop',
    'max_tokens',
    'temperature',
    'top_p',
    'random_seed',
    'presence_penalty',
    'frequency_penalty',
    'response_format',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'prediction',
    'prompt_mode',
    'reasoning_effort',
    'safe_prompt',
  ]),
  usageUnasked: true,
  noDeveloper: true,
  bareMessages: true,
  callId,
  effort,
  adapt,
}

const warmest = 1.5

function adapt(body: Body, generation: Generation, _target: Target, warn: Warn): Body {
  const { temperature = 0, toolChoice } = generation
  if (temperature > warmest)
    warn(`mistral takes a temperature of at most ${warmest}; it was lowered to that.`)
  return {
    ...body,
    ...(temperature > warmest ? { temperature: warmest } : {}),
    ...(toolChoice === 'required' && body.tools ? { tool_choice: 'any' } : {}),
  }
}

function effort(effort: Effort, target: Target): Body {
  if (target.efforts) return { reasoning_effort: effort }
  return { reasoning_effort: effort === 'none' || effort === 'minimal' ? 'none' : 'high' }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Nine letters or digits; an id of another form becomes one, always the same for the same id. */
function callId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  const digest = createHash('sha256').update(id).digest().subarray(0, 9)
  return Array.from(digest, (byte) => alphabet[byte % alphabet.length]).join('')
}
