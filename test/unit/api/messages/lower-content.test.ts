import { describe, expect, test } from 'bun:test'
import { lower } from '../../../../src/api/messages/lower.ts'
import { messageRequest } from '../../../../src/api/messages/schema.ts'

const user = (content: unknown) => ({ role: 'user', content })
const text = (words: string) => ({ type: 'text', text: words }) as const
const base64 = (media_type: string) => ({ type: 'base64', media_type, data: 'QUJD' })
const image = { type: 'image', url: 'data:image/png;base64,QUJD' }

function messagesOf(changes: object): unknown {
  const request = { model: 'a', max_tokens: 10, messages: [user('Hello')], ...changes }
  // Through JSON, which drops the fields that are undefined.
  return JSON.parse(JSON.stringify(lower(messageRequest.read(request)).generation.messages))
}

describe('a block of a user', () => {
  test.each<readonly [string, object, readonly object[]]>([
    ['text', text('Hi'), [text('Hi')]],
    [
      'marked text',
      { ...text('Hi'), cache_control: { type: 'ephemeral' } },
      [{ ...text('Hi'), extras: { cache_control: { type: 'ephemeral' } } }],
    ],
    ['an image', { type: 'image', source: base64('image/png') }, [image]],
    [
      'an image at a URL',
      { type: 'image', source: { type: 'url', url: 'https://a/b.png' } },
      [{ type: 'image', url: 'https://a/b.png' }],
    ],
    [
      'a PDF',
      { type: 'document', title: 'a.pdf', source: base64('application/pdf') },
      [
        {
          type: 'foreign',
          value: { type: 'file', file: { file_data: 'data:application/pdf;base64,QUJD', filename: 'a.pdf' } },
        },
      ],
    ],
    [
      'a PDF at a URL',
      { type: 'document', source: { type: 'url', url: 'https://a/b.pdf' } },
      [{ type: 'foreign', value: { type: 'file', file: { file_data: 'https://a/b.pdf' } } }],
    ],
    [
      'a text document',
      { type: 'document', title: 'Levels', source: { type: 'text', media_type: 'text/plain', data: '4 m' } },
      [text('Levels\n\n4 m')],
    ],
    [
      'a document of blocks',
      {
        type: 'document',
        source: { type: 'content', content: [text('4 m'), { type: 'image', source: base64('image/png') }] },
      },
      [text('4 m'), image],
    ],
    [
      'a search result',
      { type: 'search_result', source: 'https://a', title: 'Levels', content: [text('4 m'), text('5 m')] },
      [text('Levels\nhttps://a\n\n4 m\n5 m')],
    ],
    [
      'a block of another type',
      { type: 'tool_reference', tool_name: 'f' },
      [{ type: 'foreign', protocol: 'anthropic', value: { type: 'tool_reference', tool_name: 'f' } }],
    ],
  ])('%s', (_, block, parts) => {
    expect(messagesOf({ messages: [user([block])] })).toEqual([{ role: 'user', parts }])
  })
})

describe('instructions', () => {
  test('come first, as one message', () => {
    expect(messagesOf({ system: [text('Be brief.'), text('Be kind.')] })).toEqual([
      { role: 'system', parts: [text('Be brief.'), text('Be kind.')] },
      { role: 'user', parts: [text('Hello')] },
    ])
    expect(messagesOf({ system: 'Be brief.' })).toMatchObject([
      { role: 'system', parts: [text('Be brief.')] },
      {},
    ])
  })

  test('within the conversation stay where they are', () => {
    const messages = [user('Hello'), { role: 'system', content: 'Now in French.' }, user('Bye')]
    expect(messagesOf({ messages })).toMatchObject([
      { role: 'user' },
      { role: 'system', parts: [text('Now in French.')] },
      { role: 'user' },
    ])
  })
})

describe('the results of tools', () => {
  const result = (id: string, rest: object) => ({ type: 'tool_result', tool_use_id: id, ...rest })

  test('come before the text of their message, each on its own', () => {
    const content = [text('Look:'), result('a', { content: '4 m' }), result('b', { content: [text('5 m')] })]
    expect(messagesOf({ messages: [user(content)] })).toEqual([
      { role: 'tool', callId: 'a', parts: [text('4 m')] },
      { role: 'tool', callId: 'b', parts: [text('5 m')] },
      { role: 'user', parts: [text('Look:')] },
    ])
  })

  test('have images and files', () => {
    const content = [text('Here:'), { type: 'image', source: base64('image/png') }]
    expect(messagesOf({ messages: [user([result('a', { content })])] })).toEqual([
      { role: 'tool', callId: 'a', parts: [text('Here:'), image] },
    ])
  })

  test.each<readonly [object, readonly object[]]>([
    [{ content: 'No such river.', is_error: true }, [text('Error: No such river.')]],
    [{ content: 'Error 404', is_error: true }, [text('Error 404')]],
    [{ is_error: true }, [text('Error')]],
    [{ content: 'Fine.', is_error: false }, [text('Fine.')]],
    [{}, []],
    [
      { content: '4 m', cache_control: { type: 'ephemeral' } },
      [{ ...text('4 m'), extras: { cache_control: { type: 'ephemeral' } } }],
    ],
  ])('%j', (fields, parts) => {
    expect(messagesOf({ messages: [user([result('a', fields)])] })).toEqual([
      { role: 'tool', callId: 'a', parts },
    ])
  })
})
