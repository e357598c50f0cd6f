import type { Examples } from '../../http/describe.ts'

const messages = [
  { role: 'system', content: 'Answer in one sentence.' },
  { role: 'user', content: 'What is a weir?' },
]

/** Requests for chat completions, for the OpenAPI document. */
export const chatExamples: Examples = {
  text: { summary: 'A text', value: { model: 'weir/echo', messages } },
  stream: {
    summary: 'A stream with its token usage',
    value: { model: 'weir/echo', messages, stream: true, stream_options: { include_usage: true } },
  },
  tools: {
    summary: 'A tool call',
    value: {
      model: 'weir/echo',
      messages: [{ role: 'user', content: 'How high is the water in Basel?' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_water_level',
            description: 'Returns the water level of a river in a city.',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        },
      ],
      tool_choice: 'required',
    },
  },
  json: {
    summary: 'JSON that follows a schema',
    value: {
      model: 'weir/echo',
      messages: [{ role: 'user', content: 'Basel: 512 cm' }],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'water_level',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' }, centimeters: { type: 'integer' } },
            required: ['city', 'centimeters'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    },
  },
  stored: {
    summary: 'A stored completion with metadata and tags',
    value: { model: 'weir/echo', messages, store: true, metadata: { topic: 'rivers' }, tags: ['docs'] },
  },
}

/** Updates of stored chat completions, for the OpenAPI document. */
export const updateExamples: Examples = {
  metadata: { summary: 'New metadata', value: { metadata: { topic: 'rivers', reviewed: true } } },
}
