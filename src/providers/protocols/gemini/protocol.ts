import { parameters } from '../../../domain/generation/parameters.ts'
import { collectWarnings, type Protocol } from '../protocol.ts'
import type { Dialect } from './dialect.ts'
import { parseError } from './error.ts'
import { type StreamState, parseResponse, streamParser } from './parse-response.ts'
import { renderRequest } from './render-request.ts'

/** The `generateContent` protocol of Google's models, in one of its dialects. */
export function gemini(dialect: Dialect): Protocol<StreamState> {
  return {
    name: 'gemini',
    parameters: new Set(parameters.filter((name) => !unsupportedParameters.has(name))),
    inlineImages: true,
    render: collectWarnings((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: parseResponse,
    stream: streamParser,
    parseError,
  }
}

const unsupportedParameters: ReadonlySet<string> = new Set(['logit_bias', 'parallel_tool_calls'])
