import { messageRequest } from '../../support/messages.ts'

/** An image in a message. */
export const png = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
}
/** The same image as a URL. */
export const dataUrl = 'data:image/png;base64,iVBORw0KGgo='
/** A tool of the caller. */
export const tool = {
  name: 'measure',
  description: 'Measures.',
  input_schema: { type: 'object', properties: {} },
}

/** A tool loop whose result has an image. */
export const toolLoop = {
  ...messageRequest,
  system: 'Measure rivers.',
  tools: [tool],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'How high?' }, png] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_a', name: 'measure', input: { at: 'dam' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_a', content: [{ type: 'text', text: 'See.' }, png] },
        { type: 'text', text: 'And now?', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
}
