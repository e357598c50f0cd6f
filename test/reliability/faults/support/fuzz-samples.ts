const tool = {
  type: 'function',
  function: { name: 'level', description: 'Reads it.', parameters: { type: 'object', properties: {} } },
}
const called = { id: 'call_1', type: 'function', function: { name: 'level', arguments: '{"at":"weir"}' } }
const common = {
  temperature: 0.5,
  top_p: 0.9,
  metadata: { place: 'weir', depth: 4 },
  tags: ['a', 'b'],
  trace: { id: 'trace', span_id: 'span', metadata: { a: 1 } },
  user: 'someone',
}

/** Valid questions to the chat interface. */
export const chatBodies: readonly object[] = [
  { model: 'weir/echo', messages: [{ role: 'user', content: 'How high is it?' }] },
  { model: 'acme/river', messages: [{ role: 'user', content: 'Hello.' }], stream: true },
  {
    model: 'acme/river',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', content: '4 m' },
    ],
    ...common,
    max_tokens: 50,
    n: 2,
    stop: ['x', 'y'],
    tools: [tool],
    tool_choice: { type: 'function', function: { name: 'level' } },
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    logit_bias: { '50256': -100 },
    seed: 1,
    presence_penalty: 1,
    reasoning_effort: 'low',
    store: true,
    stream_options: { include_usage: true },
  },
  {
    model: 'weir/echo',
    messages: [{ role: 'user', content: 'Hi.' }],
    stream: true,
    store: true,
    reasoning_effort: 'high',
    tools: [tool],
    tool_choice: 'required',
  },
]

/** Valid questions to the Responses interface. */
export const responseBodies: readonly object[] = [
  { model: 'weir/echo', input: 'How high is it?' },
  { model: 'acme/river', input: 'Hello.', stream: true },
  { model: 'weir/echo', input: 'Hello.', background: true, metadata: {} },
  {
    model: 'acme/river',
    instructions: 'Be brief.',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hi.' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
        ],
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
      { type: 'item_reference', id: 'msg_1' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'x' }] },
    ],
    ...common,
    max_output_tokens: 20,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_object' } },
    tools: [],
    include: ['x'],
    truncation: 'auto',
    previous_response_id: null,
    store: false,
  },
]

/** Valid changes of a stored completion. */
export const updates: readonly object[] = [
  { metadata: {} },
  { metadata: { place: 'weir', list: [1, { a: null }] } },
]

/** Bodies that are no object, or no JSON at all. */
export const notJson = [
  '',
  ' ',
  '{',
  '[]',
  'null',
  '"x"',
  '5',
  'undefined',
  '\0',
  '\ufeff{}',
  '{"a":1}{"b":2}',
  '[1,]',
  "{'a':1}",
  '['.repeat(100_000),
  '{"a":'.repeat(3000) + '1' + '}'.repeat(3000),
]

/** Texts that programs often do not expect. */
export const strangeStrings = [
  '',
  ' ',
  '\ud800',
  'a\udc00b',
  '\0',
  '\u2028\u2029',
  '👩‍👩‍👧',
  'x'.repeat(100_000),
  '../../etc/passwd',
  '${HOME}',
  '__proto__',
  'data: [DONE]\n\n',
  '\r\n\r\n',
  'https://127.0.0.1:1/x.png',
  'data:image/png;base64,!!!',
  'true',
  '-1',
  'acme/river',
  'weir/echo',
  'nobody/nothing',
]
/** Numbers at the edges. */
export const strangeNumbers = [
  0,
  -0,
  -1,
  1.5,
  1e21,
  1e308,
  -1e308,
  5e-324,
  9_007_199_254_740_991,
  Number.MAX_SAFE_INTEGER + 3,
  2 ** 31,
  2 ** 53,
  128,
  129,
]
/** Names that a property should not have, and some that it has elsewhere. */
export const strangeNames = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'prototype',
  'hasOwnProperty',
  'length',
  'type',
  'role',
  'content',
  '\ud800',
  'a b',
  '0',
  '-1',
  'stream',
  'model',
  'x'.repeat(5000),
]
