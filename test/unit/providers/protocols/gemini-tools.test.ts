import { describe, expect, test } from 'bun:test'
import type { Generation } from '../../../../src/domain/generation/request.ts'
import { kinds } from '../../../../src/providers/kinds/kinds.ts'
import { protocolNamed } from './support/chunks.ts'
import { plainGeneration } from './support/generations.ts'

function render(generation: Partial<Generation>) {
  const target = { model: 'gemini-2.5-flash', stream: false }
  return protocolNamed('gemini').render({ ...plainGeneration, ...generation }, target, () => {})
}

const parameters = { type: 'object', properties: { at: { $ref: '#/$defs/place' } }, $defs: { place: {} } }
const tools = [{ name: 'read_level', description: 'Reads.', parameters }, { name: 'ping' }]

describe('the tools of a Gemini request', () => {
  test('have their JSON Schema unchanged, or none', () => {
    expect(render({ tools }).tools).toEqual([
      {
        functionDeclarations: [
          { name: 'read_level', description: 'Reads.', parametersJsonSchema: parameters },
          { name: 'ping', description: undefined, parametersJsonSchema: undefined },
        ],
      },
    ])
  })

  test.each<[Generation['toolChoice'], object]>([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [{ name: 'ping' }, { mode: 'ANY', allowedFunctionNames: ['ping'] }],
  ])('are called as the tool choice %p demands', (toolChoice, functionCallingConfig) => {
    expect(render({ tools, toolChoice }).toolConfig).toEqual({ functionCallingConfig })
  })

  test('are absent where there are none', () => {
    expect(Object.keys(render({ toolChoice: 'required' }))).toEqual(['contents'])
  })
})

test('the tool calls of a Gemini response begin with their signature, where they have one', () => {
  const [name, thoughtSignature] = ['ping', 'QUJD']
  const parts = [{ functionCall: { name }, thoughtSignature }, { functionCall: { name } }]
  const events = protocolNamed('gemini').parse({ candidates: [{ content: { parts } }] })
  const states = (type: string) =>
    events.flatMap((event) => (event.type === type ? ['state' in event ? event.state : undefined] : []))
  expect<unknown>(states('tool-call-begin')).toEqual([{ thoughtSignature }, undefined])
  expect<unknown>(states('tool-call')).toEqual([{ thoughtSignature }, undefined])
})

describe('the endpoint of a Google model', () => {
  const pathOf = (name: string, model: string, stream: boolean) => {
    const kind = kinds[name]
    if (!kind || !('protocol' in kind)) throw new Error(`${name} is no kind of a remote provider`)
    return kind.path({ model, stream }, { baseUrl: 'https://example.test' })
  }

  test.each([
    ['gemini', 'gemini-2.5-pro', false, '/models/gemini-2.5-pro:generateContent'],
    ['gemini', 'gemini-2.5-pro', true, '/models/gemini-2.5-pro:streamGenerateContent?alt=sse'],
    ['gemini', 'tunedModels/mine', false, '/tunedModels/mine:generateContent'],
    ['vertex', 'gemini-2.5-pro', false, '/publishers/google/models/gemini-2.5-pro:generateContent'],
    ['vertex', 'endpoints/123', true, '/endpoints/123:streamGenerateContent?alt=sse'],
    ['gemini', 'a?b', false, '/models/a%3Fb:generateContent'],
  ])('for %s is %s (stream: %p) at %s', (kind, model, stream, path) => {
    expect(pathOf(kind, model, stream)).toBe(path)
  })

  test('has its key in its own header at the Developer API and as a bearer token at Vertex', () => {
    const [developer, vertex] = [kinds.gemini, kinds.vertex]
    if (!developer || !vertex || !('protocol' in developer) || !('protocol' in vertex))
      throw new Error('no kinds')
    expect(developer.authorize('k')).toEqual({ 'x-goog-api-key': 'k' })
    expect(vertex.authorize('k')).toEqual({ authorization: 'Bearer k' })
    expect(developer.baseUrl).toBe('https://generativelanguage.googleapis.com/v1beta')
  })
})
