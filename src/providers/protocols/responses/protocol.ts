import type { Parameter } from '../../../domain/generation/parameters.ts'
import { gathered } from '../gather-warnings.ts'
import type { Protocol } from '../protocol.ts'
import type { AnswerState } from './answer-state.ts'
import { parseError } from './error.ts'
import { parseAnswer } from './parse-answer.ts'
import { stream } from './parse-stream.ts'
import { renderRequest } from './render-request.ts'

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
  parse: parseAnswer,
  stream,
  parseError,
}
