import { parameters } from '../../../domain/generation/parameters.ts'
import { gathered, type Protocol } from '../protocol.ts'
import type { Dialect } from './dialect.ts'
import { parseError } from './error.ts'
import { type AnswerState, parseResponse, streamParser } from './parse-response.ts'
import { renderRequest } from './render-request.ts'

/** The `generateContent` wire of Google's models in one of its dialects. */
export function gemini(dialect: Dialect): Protocol<AnswerState> {
  return {
    parameters: new Set(parameters.filter((name) => !missing.has(name))),
    inlineImages: true,
    render: gathered((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: parseResponse,
    stream: streamParser,
    parseError,
  }
}

const missing: ReadonlySet<string> = new Set(['logit_bias', 'parallel_tool_calls'])
