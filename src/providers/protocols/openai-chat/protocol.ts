import { gathered } from '../gather-warnings.ts'
import type { Protocol } from '../protocol.ts'
import type { Dialect } from './dialect.ts'
import { parseError } from './error.ts'
import { carriedParameters } from './left-out.ts'
import { parseAnswer } from './parse-answer.ts'
import { type AnswerState, streamParser } from './parse-stream.ts'
import { renderRequest } from './render-request.ts'

/** The chat completions wire in one provider's dialect. */
export function openaiChat(dialect: Dialect): Protocol<AnswerState> {
  return {
    parameters: carriedParameters(dialect),
    render: gathered((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: (body) => parseAnswer(dialect, body),
    stream: streamParser(dialect),
    parseError,
  }
}
