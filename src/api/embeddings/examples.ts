import type { Examples } from '../../http/openapi/describe.ts'

const model = 'openai/text-embedding-3-small'

/** Requests for embeddings, for the OpenAPI document. */
export const embeddingExamples: Examples = {
  text: { summary: 'A text', value: { model, input: 'What is a weir?' } },
  list: {
    summary: 'Several texts',
    value: { model, input: ['What is a weir?', 'A low dam across a river.'], encoding_format: 'float' },
  },
}
