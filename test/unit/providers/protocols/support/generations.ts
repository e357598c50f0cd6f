import type { Generation } from '../../../../../src/domain/generation/request.ts'

/** A question without anything special. */
export const plainGeneration: Generation = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'How high is the river?' }] }],
  tools: [],
  extras: {},
}

/** A tool loop with an image, and a word for most parameters. */
export const exampleGeneration: Generation = {
  messages: [
    { role: 'developer', parts: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      name: 'ada',
      parts: [
        { type: 'text', text: 'Read the gauge.' },
        { type: 'image', url: 'data:image/png;base64,QUJD', detail: 'low' },
      ],
    },
    {
      role: 'assistant',
      parts: [],
      toolCalls: [{ id: 'call_example_1', name: 'read_level', arguments: '{"place":"at the dam"}' }],
    },
    { role: 'tool', callId: 'call_example_1', parts: [{ type: 'text', text: 'The level is 4 m.' }] },
  ],
  tools: [
    {
      name: 'read_level',
      description: 'Reads a level.',
      parameters: {
        type: 'object',
        properties: { place: { type: 'string', description: 'upstream or not' } },
      },
    },
  ],
  toolChoice: 'auto',
  maxTokens: 400,
  stop: ['END'],
  temperature: 0.5,
  seed: 7,
  logitBias: { '42': 3 },
  effort: 'low',
  user: 'user-1',
  extras: {},
}
