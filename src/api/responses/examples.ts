import type { Examples } from '../../http/describe.ts'

const text = { summary: 'A text', value: { model: 'weir/echo', input: 'What is a weir?' } }

/** Requests for the number of input tokens, for the OpenAPI document. */
export const countExamples: Examples = { text }

/** Requests for responses, for the OpenAPI document. */
export const responseExamples: Examples = {
  text,
  stream: {
    summary: 'A stream',
    value: {
      model: 'weir/echo',
      instructions: 'Answer in one sentence.',
      input: 'What is a weir?',
      stream: true,
    },
  },
  messages: {
    summary: 'A conversation of several messages',
    value: {
      model: 'weir/echo',
      input: [
        { role: 'user', content: 'What is a weir?' },
        { role: 'assistant', content: 'A low dam across a river.' },
        { role: 'user', content: [{ type: 'input_text', text: 'What is it for?' }] },
      ],
    },
  },
  background: {
    summary: 'A background run',
    value: {
      model: 'weir/echo',
      input: 'Write a history of weirs.',
      background: true,
      metadata: { topic: 'rivers' },
    },
  },
}
