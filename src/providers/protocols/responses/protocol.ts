import type { Parameter } from '../../../domain/generation/parameters.ts'
import { collectWarnings, type Protocol } from '../protocol.ts'
import { parseError } from './error.ts'
import { parseResponse, streamParser } from './parse-response.ts'
import { renderRequest } from './render-request.ts'
import type { StreamState } from './stream-state.ts'

/** The generation parameters that the Responses API supports. */
const supportedParameters: readonly Parameter[] = [
  'temperature',
  'top_p',
  'max_tokens',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'parallel_tool_calls',
]

/** The protocol of the Responses API, used without state: each request contains the conversation and stores nothing. */
export const responses: Protocol<StreamState> = {
  name: 'responses',
  parameters: new Set(supportedParameters),
  render: collectWarnings(renderRequest),
  parse: parseResponse,
  stream: streamParser,
  parseError,
}
