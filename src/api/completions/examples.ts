import type { Examples } from '../../http/openapi/describe.ts'

const prompt = 'def median(numbers):'

/** Requests for completions, for the OpenAPI document. */
export const completionExamples: Examples = {
  text: { summary: 'A text', value: { model: 'local/qwen3-coder', prompt, max_tokens: 64 } },
  stream: {
    summary: 'A stream',
    value: { model: 'local/qwen3-coder', prompt, max_tokens: 64, stream: true },
  },
}
