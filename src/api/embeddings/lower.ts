import { toInputs } from '../../http/inputs.ts'
import type { LoweredRequest } from '../../gateway/models/prepare-generation.ts'
import { fieldsBeside } from '../../lib/json/json.ts'
import { type EmbeddingRequest, knownProperties } from './schema.ts'

/** As in OpenAI's API. */
const maxInputs = 2048

/** Lowers an embedding request; throws the 400 of one with too many inputs. */
export function lower(request: EmbeddingRequest): LoweredRequest {
  const { dimensions, encoding_format: format } = request
  const generation = {
    operation: 'embedding' as const,
    inputs: toInputs(request.input, 'input', maxInputs),
    embedding: { format: format ?? ('float' as const), dimensions: dimensions ?? undefined },
    messages: [],
    tools: [],
    user: request.user ?? undefined,
    source: { protocol: 'openai-embeddings' as const, body: request },
    extras: fieldsBeside(knownProperties, request) ?? {},
  }
  return { generation, names: {}, warnings: [] }
}
