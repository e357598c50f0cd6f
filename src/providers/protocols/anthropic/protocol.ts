import type { Parameter } from '../../../domain/generation/parameters.ts'
import type { Generation } from '../../../domain/generation/request.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from '../protocol.ts'
import { type Traits, traitsOf } from './models.ts'
import { parseError, parseResponse, streamParser, type StreamState } from './parse-response.ts'
import { renderRequest } from './render-request.ts'
import { renderSource } from './render-source.ts'

/** The generation parameters that Anthropic supports. */
const supportedParameters: readonly Parameter[] = [
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

/** The Messages protocol of Anthropic. */
export const anthropicMessages = messagesProtocol(traitsOf)

/** The Messages protocol, with the traits that models have at one host. */
function messagesProtocol(traitsFor: (model: string) => Traits): Protocol<StreamState> {
  return {
    name: 'anthropic',
    parameters: new Set(supportedParameters),
    render: collectWarnings((generation, target, warn) => {
      const { source } = generation
      return source?.protocol === 'anthropic'
        ? renderSource(source.body, generation, target, warn)
        : renderRequest(traitsFor(target.model), generation, target, warn)
    }),
    parse: parseResponse,
    stream: streamParser,
    parseError,
  }
}

// Google Cloud enforces schemas only where a policy of the organization allows it.
const messages = messagesProtocol((model) => ({ ...traitsOf(model), supportsSchemas: false }))

/** The Messages protocol of Vertex AI: the model is in the URL, and the version in the body. */
export const vertexMessages: Protocol<StreamState> = {
  ...messages,
  render: collectWarnings(render),
}

function render(generation: Generation, target: Target, warn: Warn): Body {
  const { serviceTier } = generation
  if (serviceTier !== undefined && serviceTier !== 'auto' && serviceTier !== 'default')
    warn({ what: 'Service tier', name: serviceTier, by: 'Vertex' })
  const { model: _, ...body } = messages.render({ ...generation, serviceTier: undefined }, target, warn)
  return { anthropic_version: 'vertex-2023-10-16', ...body }
}
