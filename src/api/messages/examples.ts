import type { Examples } from '../../http/describe.ts'

const messages = [{ role: 'user', content: 'What is a weir?' }]

/** Requests for messages, for the OpenAPI document. */
export const messageExamples: Examples = {
  text: { summary: 'A text', value: { model: 'weir/echo', max_tokens: 1024, messages } },
  stream: {
    summary: 'A stream',
    value: {
      model: 'weir/echo',
      max_tokens: 1024,
      system: 'Answer in one sentence.',
      messages,
      stream: true,
    },
  },
}

/** Requests for token counts, for the OpenAPI document. */
export const countTokensExamples: Examples = {
  text: { summary: 'A text', value: { model: 'weir/echo', messages } },
}
