import type { Generation } from '../../../domain/generation/request.ts'
import { gathered } from '../gather-warnings.ts'
import type { Target, Warn, Protocol } from '../protocol.ts'
import { traitsOf } from './models.ts'
import type { MessageState } from './parse-stream.ts'
import { messagesProtocol } from './protocol.ts'

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
