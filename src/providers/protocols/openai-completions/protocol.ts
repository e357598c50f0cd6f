import { parameters } from '../../../domain/generation/parameters.ts'
import { parseError } from '../openai-chat/error.ts'
import { collectWarnings, type Protocol } from '../protocol.ts'
import { parseResponse, type StreamState, streamParser } from './parse-response.ts'
import { renderRequest } from './render-request.ts'

const conversationParameters: ReadonlySet<string> = new Set([
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
])

/** The protocol of text completions, which continue a prompt instead of a conversation. */
export const openaiCompletions: Protocol<StreamState> = {
  name: 'openai-completions',
  parameters: new Set(parameters.filter((name) => !conversationParameters.has(name))),
  render: collectWarnings(renderRequest),
  parse: parseResponse,
  stream: streamParser,
  parseError,
}
