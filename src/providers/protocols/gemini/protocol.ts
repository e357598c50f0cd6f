import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { parameters } from '../../../domain/generation/parameters.ts'
import type { Generation } from '../../../domain/generation/request.ts'
import { fieldsOf, isObject, listOf } from '../../../lib/json/json.ts'
import { noStream, readEmbeddings } from '../embeddings.ts'
import { hasError } from '../error.ts'
import { failure } from '../parsing.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from '../protocol.ts'
import { warnOfFields } from '../rendering.ts'
import { parseError, parseUsage } from './metadata.ts'
import type { Dialect } from './models.ts'
import { parseResponse, streamParser, type StreamState } from './parse-response.ts'
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

/** The `batchEmbedContents` protocol of Google's models. */
export const geminiEmbeddings: Protocol<null> = {
  name: 'gemini-embeddings',
  parameters: new Set(),
  render: collectWarnings(renderEmbeddings),
  parse: parseEmbeddings,
  stream: noStream,
  parseError,
}

function renderEmbeddings(generation: Generation, target: Target, warn: Warn): Body {
  const { inputs = [], embedding, extras, user } = generation
  warnOfFields({ ...extras, user }, { what: 'Parameter', by: 'gemini' }, warn)
  const model = target.model.includes('/') ? target.model : `models/${target.model}`
  const texts = inputs.filter((input) => typeof input === 'string')
  return { requests: texts.map((text) => renderText(text, model, embedding?.dimensions)) }
}

function renderText(text: string, model: string, dimensions: number | undefined): Body {
  return { model, content: { parts: [{ text }] }, outputDimensionality: dimensions }
}

function parseEmbeddings(body: unknown, generation?: Generation): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || !Array.isArray(body.embeddings)) return [failure(parseError(body))]
  const received = listOf(body.embeddings).map((item) => ({ embedding: fieldsOf(item).values }))
  // Not all models report it.
  return readEmbeddings(received, parseUsage(body.usageMetadata)?.promptTokens, generation)
}
