import type { Parameter } from '../../../domain/generation/parameters.ts'
import { gathered, type Protocol } from '../protocol.ts'
import { parseError } from './error.ts'
import { parseResponse, stream } from './parse-response.ts'
import { renderRequest } from './render-request.ts'
import type { AnswerState } from './stream-state.ts'

/** The generation parameters that the Responses API has. */
const carried: readonly Parameter[] = [
  'temperature',
  'top_p',
  'max_tokens',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'parallel_tool_calls',
]

/** The Responses API, asked without any state: every call brings its whole conversation and stores nothing. */
export const responses: Protocol<AnswerState> = {
  parameters: new Set(carried),
  render: gathered(renderRequest),
  parse: parseResponse,
  stream,
  parseError,
}
