import { Elysia } from 'elysia'
import { toDollars } from '../../gateway/billing/price.ts'
import type { Guard } from '../../http/guard.ts'
import { jsonReply } from '../../http/reply.ts'
import { bodyErrors, describe, type Examples } from '../../http/describe.ts'
import { contextOf, type GenerationDependencies } from '../generate.ts'
import { EmbeddingList, embeddingRequest } from './schema.ts'
import { embed } from './service.ts'

const model = 'openai/text-embedding-3-small'

/** Requests for embeddings, for the OpenAPI document. */
const embeddingExamples: Examples = {
  text: { summary: 'A text', value: { model, input: 'What is a weir?' } },
  list: {
    summary: 'Several texts',
    value: { model, input: ['What is a weir?', 'A low dam across a river.'], encoding_format: 'float' },
  },
}

/** Where embeddings are requested. */
export const embeddingsPath = '/v1/embeddings'

/** `POST /v1/embeddings`. */
export function embeddingRoutes(guard: Guard, dependencies: GenerationDependencies) {
  return new Elysia({ name: 'embeddings' }).use(guard).post(
    embeddingsPath,
    async ({ readBody, caller, admission, record, request, set }) => {
      const body = await readBody(request, embeddingRequest, { admission, caller })
      const context = contextOf({ caller, admission, record, request, set }, body)
      // The call releases the memory at its end, and the reply still needs it.
      admission.memory.retain()
      try {
        const { parts, cost } = await embed(body, context, dependencies)
        if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
        return jsonReply(parts, { request, admission })
      } finally {
        admission.memory.release()
      }
    },
    { detail },
  )
}

const detail = describe({
  tag: 'Embeddings',
  id: 'createEmbeddings',
  summary: 'Embed texts',
  description: 'Returns an embedding of each input, in their order, for models with the API `embeddings`.',
  body: embeddingRequest,
  examples: embeddingExamples,
  reply: EmbeddingList,
  errors: [...bodyErrors, 402, 404, 502],
})
