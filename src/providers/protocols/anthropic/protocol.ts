import type { Parameter } from '../../../domain/generation/parameters.ts'
import { gathered } from '../gather-warnings.ts'
import type { Protocol } from '../protocol.ts'
import { parseError } from './error.ts'
import { type Traits, traitsOf } from './models.ts'
import { parseAnswer } from './parse-answer.ts'
import { type MessageState, messageStream } from './parse-stream.ts'
import { renderRequest } from './render-request.ts'

/** The generation parameters that Anthropic has. */
const carried: readonly Parameter[] = [
  'temperature',
  'top_p',
  'max_tokens',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'parallel_tool_calls',
]

/** The Messages wire, as Anthropic speaks it. */
export const anthropicMessages = messagesProtocol(traitsOf)

/** The Messages wire for models with the traits that their host leaves them. */
export function messagesProtocol(traits: (model: string) => Traits): Protocol<MessageState> {
  return {
    parameters: new Set(carried),
    render: gathered((generation, target, warn) => {
      return renderRequest(traits(target.model), generation, target, warn)
    }),
    parse: parseAnswer,
    stream: messageStream,
    parseError,
  }
}
