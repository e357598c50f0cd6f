import { gathered, type Protocol } from '../protocol.ts'
import type { Dialect } from './dialect.ts'
import { parseError } from './error.ts'
import { type AnswerState, parseResponse, streamParser } from './parse-response.ts'
import { renderRequest } from './render-request.ts'
import { carriedParameters } from './unsupported.ts'

/** The chat completions wire in one provider's dialect. */
export function openaiChat(dialect: Dialect): Protocol<AnswerState> {
  return {
    parameters: carriedParameters(dialect),
    render: gathered((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: (body) => parseResponse(dialect, body),
    stream: streamParser(dialect),
    parseError,
  }
}
