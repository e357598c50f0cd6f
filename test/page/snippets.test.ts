import { describe, expect, test } from 'bun:test'
import { listedCost } from '../../src/page/api/answer.ts'
import {
  defaultParameters,
  type GenerationRequest,
  pathOf,
  requestBody,
} from '../../src/page/api/generate.ts'
import { snippetsOf } from '../../src/page/views/playground/snippets.ts'
import { canRun, runSnippet } from './support/run-snippet.ts'

const origin = 'http://127.0.0.1:9347'
const text = `It's "four" \\ metres, $HOME \`x\` \${y}\n"key": 1 ☃`
const image = `data:image/png;base64,${'A'.repeat(200)}`
const request: GenerationRequest = {
  model: 'acme/river',
  messages: [{ role: 'user', text, images: [image] }],
  parameters: {
    ...defaultParameters,
    system: text,
    temperature: '0,5',
    maxTokens: '100',
    effort: 'low',
    schema: '{"type": "object", "properties": {"a": {"type": "boolean", "default": true}}}',
    store: true,
  },
}
const languages = ['curl', 'python', 'typescript', 'ai-sdk'] as const

function codeOf(id: string, shown: GenerationRequest): string {
  return snippetsOf(shown, origin).find((snippet) => snippet.id === id)?.code ?? ''
}

describe.each(['chat', 'responses'] as const)('the code of a request to the API %s', (api) => {
  const shown: GenerationRequest = { ...request, parameters: { ...request.parameters, api } }

  for (const id of languages.slice(0, 3))
    test.skipIf(!canRun(id))(`sends exactly the request of the playground: ${id}`, async () => {
      expect(await runSnippet(id, codeOf(id, shown), origin)).toEqual({
        path: pathOf[api],
        body: requestBody(shown),
      })
    })

  test.each(languages)('has the address, and the name of the variable with the key: %s', (id) => {
    expect(codeOf(id, shown)).toContain(`${origin}/v1`)
    expect(codeOf(id, shown)).toContain('WEIR_API_KEY')
  })
})

test.skipIf(!canRun('curl'))(
  'curl sends an image that is too large for an argument of a command',
  async () => {
    const large = `data:image/png;base64,${'A'.repeat(300_000)}`
    const shown = { ...request, messages: [{ role: 'user' as const, text, images: [large] }] }
    expect(await runSnippet('curl', codeOf('curl', shown), origin)).toEqual({
      path: pathOf.chat,
      body: requestBody(shown),
    })
  },
)

describe('the code for the AI SDK', () => {
  const content = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: image } },
  ]

  test('sends the same conversation and parameters to Chat Completions', async () => {
    const { path, body } = await runSnippet('ai-sdk', codeOf('ai-sdk', request), origin)
    expect(path).toBe(pathOf.chat)
    expect(body).toMatchObject({
      model: 'acme/river',
      messages: [
        { role: 'system', content: text },
        { role: 'user', content },
      ],
      temperature: 0.5,
      max_tokens: 100,
      reasoning_effort: 'low',
      response_format: { json_schema: { schema: JSON.parse(request.parameters.schema), strict: false } },
      store: true,
      stream: true,
    })
  })

  test('sends the same conversation and parameters to Responses', async () => {
    const parameters = { ...request.parameters, api: 'responses' as const, store: false }
    const { path, body } = await runSnippet('ai-sdk', codeOf('ai-sdk', { ...request, parameters }), origin)
    expect(path).toBe(pathOf.responses)
    expect(body).toMatchObject({
      model: 'acme/river',
      input: [
        { content: text },
        {
          role: 'user',
          content: [
            { type: 'input_text', text },
            { type: 'input_image', image_url: image },
          ],
        },
      ],
      max_output_tokens: 100,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { schema: JSON.parse(request.parameters.schema), strict: false } },
      store: false,
      stream: true,
    })
  })
})

describe('the cost of an answer at the listed prices', () => {
  const usage = { input: 1000, cached: 400, output: 333, reasoning: 0 }
  const prices = { input: 0.3, output: 2.5, cache_read: 0.075, request: null }

  test('is exact', () => {
    expect(listedCost(usage, prices)).toBe('0.0010425')
  })

  test('uses the input price where cached tokens have none, and adds the price of the request', () => {
    expect(listedCost(usage, { ...prices, cache_read: null, request: 0.01 })).toBe('0.0111325')
  })

  test('is unknown without prices', () => {
    expect(listedCost(usage, null)).toBeUndefined()
    expect(listedCost(usage, { ...prices, input: null })).toBeUndefined()
  })
})
