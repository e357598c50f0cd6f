import { collectWarnings, type Protocol } from '../protocol.ts'
import type { Dialect } from './dialect.ts'
import { parseError } from './error.ts'
import { type StreamState, parseResponse, streamParser } from './parse-response.ts'
import { renderRequest } from './render-request.ts'
import { supportedParameters } from './unsupported.ts'

/** The protocol of chat completions in one provider's dialect. */
export function openaiChat(dialect: Dialect): Protocol<StreamState> {
  return {
    name: 'openai-chat',
    parameters: supportedParameters(dialect),
    render: collectWarnings((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: (body) => parseResponse(dialect, body),
    stream: streamParser(dialect),
    parseError,
  }
}
