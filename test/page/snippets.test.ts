import { describe, expect, test } from 'bun:test'
import { listedCost } from '../../src/page/api/answer.ts'
import { defaultParameters, type GenerationRequest } from '../../src/page/api/generate.ts'
import { snippetsOf } from '../../src/page/views/playground/snippets.ts'

const origin = 'http://127.0.0.1:9347'
const text = `It's "four" \\ metres, $HOME \`x\` \${y}\n"key": 1 ☃`
const request: GenerationRequest = {
  model: 'acme/river',
  messages: [{ role: 'user', text, images: [`data:image/png;base64,${'A'.repeat(500)}`] }],
  parameters: {
    ...defaultParameters,
    system: text,
    temperature: '0,5',
    effort: 'low',
    schema: '{"type": "object", "properties": {"a": {"type": "boolean", "default": true}}}',
    store: true,
  },
}

describe.each(['chat', 'responses'] as const)('the code of a request to the API %s', (api) => {
  const snippets = snippetsOf({ ...request, parameters: { ...request.parameters, api } }, origin)
  const codeOf = (id: string) => snippets.find((snippet) => snippet.id === id)?.code ?? ''

  test('as curl sends exactly the body, whatever the shell would make of its characters', async () => {
    const script = `curl() { for last; do :; done; printf %s "$last"; }\n${codeOf('curl')}`
    const shell = Bun.spawn(['sh', '-c', script], { stdout: 'pipe', env: { WEIR_API_KEY: 'key' } })
    const body = JSON.parse(await new Response(shell.stdout).text())
    expect(body).toMatchObject({ model: 'acme/river', temperature: 0.5, store: true, stream: true })
    expect(JSON.stringify(body)).toContain(JSON.stringify(text).slice(1, -1))
  })

  test('as TypeScript and for the AI SDK is valid', () => {
    const transpiler = new Bun.Transpiler({ loader: 'ts' })
    for (const id of ['typescript', 'ai-sdk']) {
      const code = codeOf(id)
      expect(() => transpiler.transformSync(code)).not.toThrow()
      expect(code).toContain(`${origin}/v1`)
      expect(code).toContain('process.env.WEIR_API_KEY')
    }
  })

  test.skipIf(Bun.which('python3') === null)('as Python is valid, with the values of Python', async () => {
    const code = codeOf('python')
    const python = Bun.spawn(['python3', '-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      stdin: new Blob([code]),
      stderr: 'pipe',
    })
    expect(await new Response(python.stderr).text()).toBe('')
    expect(code).toContain('store=True')
    expect(code).not.toMatch(/\b(true|false|null)\b/)
  })

  test('does not repeat a whole image', () => {
    for (const { code } of snippets) expect(code).not.toContain('A'.repeat(100))
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
