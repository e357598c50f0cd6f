import type { Parameter } from '../../../domain/generation/parameters.ts'
import type { Generation } from '../../../domain/generation/request.ts'
import { gathered, type Protocol, type Target, type Warn } from '../protocol.ts'
import { parseError } from './error.ts'
import { type Traits, traitsOf } from './models.ts'
import { type MessageState, messageStream, parseResponse } from './parse-response.ts'
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
    parse: parseResponse,
    stream: messageStream,
    parseError,
  }
}

// Google Cloud holds models to schemas only where an organization has allowed that by a policy.
const messages = messagesProtocol((model) => ({ ...traitsOf(model), schemas: false }))

/** The Messages wire as Vertex speaks it: the model is named in the URL, and the version in the body. */
export const vertexMessages: Protocol<MessageState> = {
  ...messages,
  render: gathered(render),
}

function render(generation: Generation, target: Target, warn: Warn): Record<string, unknown> {
  const { serviceTier } = generation
  if (serviceTier !== undefined && serviceTier !== 'auto' && serviceTier !== 'default')
    warn({ what: 'Service tier', name: serviceTier, by: 'Vertex' })
  const { model: _, ...body } = messages.render({ ...generation, serviceTier: undefined }, target, warn)
  return { anthropic_version: 'vertex-2023-10-16', ...body }
}
