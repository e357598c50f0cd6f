import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'
import { noStream, readEmbeddings, type ReceivedEmbedding } from './embeddings.ts'
import { hasError, parseError } from './error.ts'
import { type Dialect, dropUnsupported } from './openai-chat/dialect.ts'
import { withoutWithheld } from './openai-chat/withheld.ts'
import { countOf, failure } from './parsing.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from './protocol.ts'

/** The differences between one provider's embeddings and those of OpenAI. */
export type EmbeddingsDialect = Pick<Dialect, 'name' | 'renames' | 'supported'> & {
  /**
   * `base64`: the provider is known to support it, and it is always requested: it takes a quarter of the bytes of numbers,
   * and much less time to parse. `numbers`: the provider returns numbers, and may reject `encoding_format`.
   */
  readonly format?: 'base64' | 'numbers'
}

/** Mistral rejects unknown fields, and has another name for the dimensions. */
export const mistralEmbeddings: EmbeddingsDialect = {
  name: 'mistral',
  format: 'numbers',
  renames: { dimensions: 'output_dimension' },
  supported: new Set(['model', 'input', 'output_dimension', 'output_dtype', 'metadata']),
}

/** The protocol of embeddings in one provider's dialect. */
export function openaiEmbeddings(dialect: EmbeddingsDialect): Protocol<null> {
  return {
    name: 'openai-embeddings',
    parameters: new Set(),
    render: collectWarnings((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: parseResponse,
    embeddingName: 'embedding',
    stream: noStream,
    parseError,
  }
}

/**
 * Fields that only the gateway sets: some providers ignore the case of field names. Other forms of the input, and a prompt
 * before each of its texts, would not be counted.
 */
const gatewayFields = nameSet(
  'model input dimensions encoding_format user stream',
  'messages content contents prompts prompt_name instruction instructions',
)

function renderRequest(dialect: EmbeddingsDialect, generation: Generation, target: Target, warn: Warn): Body {
  const source = generation.source?.body ?? {}
  const body = {
    ...withoutWithheld(generation.extras, warn, gatewayFields),
    model: target.model,
    input: source.input,
    dimensions: generation.embedding?.dimensions,
    encoding_format: formatFor(dialect, source),
    user: generation.user,
  }
  return dropUnsupported(body, dialect, generation, target, warn)
}

/** Embeddings in another format than the requested one are converted. */
function formatFor({ format }: EmbeddingsDialect, source: Fields): unknown {
  if (format === 'numbers') return undefined
  return format ?? source.encoding_format ?? undefined
}

function parseResponse(body: unknown, generation?: Generation): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || !Array.isArray(body.data)) return [failure(parseError(body))]
  const { prompt_tokens, total_tokens } = fieldsOf(body.usage)
  return readEmbeddings(
    listOf(body.data).map(toReceived),
    countOf(prompt_tokens) || countOf(total_tokens),
    generation,
  )
}

function toReceived(item: unknown): ReceivedEmbedding {
  const { index, embedding } = fieldsOf(item)
  return { index, embedding }
}
